/**
 * Replaces an invalid `navigator.language`, such as `en-US@posix` on a server without a locale. The chart library passes
 * the language to `Intl` while loading. An invalid one would throw and leave the page blank. This module must be imported
 * before the library.
 */
function replaceInvalidLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en' });
  }
}

replaceInvalidLanguage();
