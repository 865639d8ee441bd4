/**
 * Replaces a `navigator.language` that is no language tag, as `en-US@posix` of a browser on a server without a locale. The library that
 * draws passes it to `Intl` while it loads, which throws, and the page would stay blank. To be imported before that library.
 */
function replaceInvalidLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en' });
  }
}

replaceInvalidLanguage();
