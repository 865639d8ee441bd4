/** Where the pages of the documentation have their script and their styles. They are put in when a page is served. */
export const SCRIPT_MARK = '/* docs.js */';
export const STYLE_MARK = '/* docs.css */';
