// The channel on which the thread of mirror-thread.ts says that it hangs. In a file of its own, because importing the thread's
// program would serve tasks.

export const hangChannel = 'mirror thread hangs';
