/** The script and the styles replace these marks when a page is served. */
export const SCRIPT_MARK = '/* docs.js */';
export const STYLE_MARK = '/* docs.css */';
