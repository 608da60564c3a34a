package shm_test

import (
	"fmt"
	"sync/atomic"

	"github.com/taulop/taulop/shm"
)

// A message of three segments goes through a buffer of two, from one goroutine to another.
func Example() {
	const segments, bytes, readers = 2, 4, 1
	n, err := shm.ChannelBytes(segments, bytes, readers)
	if err != nil {
		fmt.Println(err)
		return
	}
	region, err := shm.Map(n)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer region.Close()
	channel := shm.NewChannel(region.Bytes(), segments, bytes, readers)
	var stop atomic.Bool
	go func() {
		sender := channel.Sender(shm.NewWaiter(&stop, true))
		for _, s := range []string{"a se", "gmen", "ted."} {
			sender.Send([]byte(s))
		}
	}()
	receiver := channel.Receiver(0, shm.NewWaiter(&stop, true))
	segment := make([]byte, bytes)
	for range 3 {
		receiver.Receive(segment)
		fmt.Print(string(segment))
	}
	fmt.Println()
	// Output: a segmented.
}
