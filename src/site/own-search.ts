// What a site's own search needs, as its builder tells the program in the pages. A type only, because a browser loads what imports it.
// Refuses anything of a tool: the files decide (search-program), and the page shows whether there is a box (search-client).

/** None works without its vendor; one that needs a server of files; or one that works from a disk too. */
export type OwnSearch = 'none' | 'served' | 'anywhere';
