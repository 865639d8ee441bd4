const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const large = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const huge = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** Returns a short text such as `1.23`, `12,345` or `123.4K`, and a dash for a missing value. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  return (size < 1000 ? small : size < 100_000 ? large : huge).format(value);
}

/** As `14:03:09`, from epoch ms. */
export function time(at: number): string {
  return clock.format(at);
}

/**
 * Splits a row's Markdown, such as `**Queues** Runbook: \`infra/RUNBOOK.md#a\``: the bold text is the title, the rest
 * the note.
 */
export function heading(markdown: string): { readonly title: string; readonly note: string } {
  const [, title = markdown, note = ''] = /^\*\*(.+?)\*\*\s*(.*)$/s.exec(markdown) ?? [];
  return { title, note: note.replaceAll('`', '') };
}
