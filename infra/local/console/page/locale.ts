/**
 * Import this module before the chart library, which passes `navigator.language` to `Intl` while it loads. An invalid
 * language, such as `en-US@posix` on a server without a locale, would leave the page blank.
 */
function replaceInvalidLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en' });
  }
}

replaceInvalidLanguage();
