import { readXml, type XmlBudget } from './xml.ts';

const BUILT_IN_DATES = [14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47];
/** Parts of a format that are no date codes. A quote or bracket without an end extends to the end of the format. */
const LITERAL = /"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?/g;
const MAX_FORMAT_CHARACTERS = 255;
const MAX_STYLES = 70_000;
const DAY_SECONDS = 86_400;
/** Spreadsheets have no dates from this time on. */
const END_OF_DATES = Date.UTC(10_000, 0, 1);

/** Returns whether a cell style, given by its index, shows dates. */
export function readDateStyles(part: Buffer | undefined, budget: XmlBudget): (style: number) => boolean {
  if (part === undefined) return () => false;
  const formats = new Set(BUILT_IN_DATES);
  const styles: boolean[] = [];
  let isInCells = false;
  const reader = {
    open(name: string, { numFmtId = '', formatCode = '' }: Readonly<Record<string, string>>) {
      const isDate = () => /[ymdhs]/i.test(formatCode.slice(0, MAX_FORMAT_CHARACTERS).replace(LITERAL, ''));
      if (name === 'numFmt' && formats.size < MAX_STYLES && isDate()) formats.add(Number(numFmtId));
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells && styles.length < MAX_STYLES) styles.push(formats.has(Number(numFmtId)));
    },
    close(name: string) {
      if (name === 'cellXfs') isInCells = false;
    },
  };
  readXml(part, reader, budget);
  return (style) => styles[style] ?? false;
}

/**
 * Returns for example `2026-03-01`, `2026-03-01 09:30:00` or `09:30:00`, and `text` itself if it is no date. Days count
 * from 1904, or from 1900 with a 29 February that did not exist.
 */
export function formatDate(text: string, dates1904: boolean): string {
  const days = Number(text);
  if (text.trim() === '' || !Number.isFinite(days) || days < 0) return text;
  const firstDay = dates1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const milliseconds = firstDay + Math.round(days * DAY_SECONDS) * 1_000;
  if (milliseconds >= END_OF_DATES) return text;
  const [date = '', time = ''] = new Date(milliseconds).toISOString().slice(0, 19).split('T');
  if (days < 1) return time;
  return milliseconds % (DAY_SECONDS * 1_000) === 0 ? date : `${date} ${time}`;
}
