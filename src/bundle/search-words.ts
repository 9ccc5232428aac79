// What everything that adds a search to a site says where there is nothing to find: the command, the operator's status, and the server's
// log. One text, so that a user recognises the case.

/** Without the end of its sentence. */
export const nothingToFind = 'No page may be found by a search, so that nothing was added';
export const nothingToFindRemedy = 'Check the robots meta elements of its pages';
