const DIGITS = 15;

/** `1` for `1.0`, `0.3` for `0.30000000000000004`, with an exponent only from 1e15 on. */
export function formatNumber(text: string): string {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) return text;
  const [mantissa = '', exponent = ''] = Math.abs(value)
    .toExponential(DIGITS - 1)
    .split('e');
  const digits = String(Number(mantissa)).replace('.', '');
  const power = Number(exponent);
  const [shown, wholeDigits] =
    power >= DIGITS ? [digits, 1] : [`${'0'.repeat(Math.max(-power, 0))}${digits}`, Math.max(power, 0) + 1];
  const whole = shown.slice(0, wholeDigits).padEnd(wholeDigits, '0');
  const fraction = shown.slice(wholeDigits);
  return `${value < 0 ? '-' : ''}${whole}${fraction && `.${fraction}`}${power >= DIGITS ? `E${exponent}` : ''}`;
}
