// The channels on which the thread of mirror-thread.ts says that it hangs, and how far its search is. In a file of its own, because
// importing the thread's program would serve tasks.

export const hangChannel = 'mirror thread hangs';
export const searchChannel = 'mirror thread searches';
