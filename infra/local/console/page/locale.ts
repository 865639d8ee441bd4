/**
 * Replaces an invalid `navigator.language`, such as `en-US@posix` on a server without a locale. The chart library
 * passes the language to `Intl` while it loads. An invalid language throws there, and the page stays blank. Import this
 * module before the library.
 */
function replaceInvalidLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en' });
  }
}

replaceInvalidLanguage();
