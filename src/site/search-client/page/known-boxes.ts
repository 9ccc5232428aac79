// Search boxes of known tools: where their buttons and inputs are in a page. A box whose vendor's server or index is absent opens this
// search. Pure: selectors only. Refuses inputs outside a page's header, because they may filter a table.

/** Each selector with the part of a page that a reader presses. The rule that hides dead boxes has a table of its own, by elements. */
const boxesByTool: Readonly<Record<string, readonly string[]>> = {
  Mintlify: ['#search-bar-entry', '#search-bar-entry-mobile'],
  GitBook: ['[data-testid="search-input"]', 'div:has(> [data-testid="search-input"])'],
  ReadMe: ['.rm-SearchToggle', '#search-toggle-button'],
  DocSearch: ['.DocSearch-Button', '#docsearch', 'input.ds-input'],
  Docusaurus: ['.navbar__search', '[class*="navbarSearchContainer"]'],
  VitePress: ['.VPNavBarSearch button', '#local-search'],
  Nextra: ['.nextra-search'],
  Starlight: ['site-search', 'starlight-docsearch'],
  Fumadocs: ['button[data-search]', 'button[data-search-full]'],
  'MkDocs Material': ['.md-search__form', 'label[for="__search"]'],
  mdBook: ['#search-toggle', '#mdbook-search-toggle'],
  'Read the Docs': ['[role="search"] input[name="q"]', '.sidebar-search-container'],
  Docsify: ['.sidebar .search input'],
  Antora: ['#search-input'],
  Document360: ['[data-testid="search-box"]'],
  'any tool': [
    ...['header [role="search"]', 'header [role="searchbox"]', 'header input[type="search"]'],
    ...['header button[aria-label^="Search" i]', 'nav [role="search"]', 'nav input[type="search"]'],
    'nav button[aria-label^="Search" i]',
  ],
};

/** For `matches`, `closest` and `querySelectorAll`. */
export const searchBoxes: string = Object.values(boxesByTool).flat().join(',');
