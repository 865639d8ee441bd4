const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const large = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const huge = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** Formats a number compactly, or as a dash if there is none. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  return (size < 1000 ? small : size < 100_000 ? large : huge).format(value);
}

/** Formats epoch milliseconds as `14:03:09`. */
export function time(at: number): string {
  return clock.format(at);
}

/** Splits Markdown such as `**Queues** Runbook: \`infra/RUNBOOK.md#a\`` into title and note. */
export function heading(markdown: string): { readonly title: string; readonly note: string } {
  const [, title = markdown, note = ''] = /^\*\*(.+?)\*\*\s*(.*)$/s.exec(markdown) ?? [];
  return { title, note: note.replaceAll('`', '') };
}
