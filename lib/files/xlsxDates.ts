import { readXml, type XmlBudget } from './xml.ts';

/** Number formats that every spreadsheet has, and that show a date or a time. */
const builtInDates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
/** What of a format is shown as it is: quoted or escaped, and what stands in brackets. A quote or bracket that nothing closes reaches to the end. */
const LITERAL = /"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?/g;
const LONGEST_FORMAT = 255;
const MOST_STYLES = 70_000;
const DAY_MILLISECONDS = 86_400_000;

/** Tells which styles of cells show their number as a date. */
export function readDateStyles(part: Buffer | undefined, budget: XmlBudget): (style: number) => boolean {
  const formats = new Set(builtInDates);
  const styles: boolean[] = [];
  let inCells = false;
  if (part === undefined) return () => false;
  readXml(
    part,
    {
      open(name, { numFmtId = '', formatCode = '' }) {
        if (
          name === 'numFmt' &&
          formats.size < MOST_STYLES &&
          /[ymdhs]/i.test(formatCode.slice(0, LONGEST_FORMAT).replace(LITERAL, ''))
        )
          formats.add(Number(numFmtId));
        if (name === 'cellXfs') inCells = true;
        if (name === 'xf' && inCells && styles.length < MOST_STYLES) styles.push(formats.has(Number(numFmtId)));
      },
      close(name) {
        if (name === 'cellXfs') inCells = false;
      },
    },
    budget,
  );
  return (style) => styles[style] ?? false;
}

/** A date as text, `2026-03-01` or `2026-03-01 09:30:00`. A spreadsheet counts days, from 1900 with a 29 February or from 1904. */
export function showDate(text: string, dates1904: boolean): string {
  const days = Number(text);
  if (text.trim() === '' || !Number.isFinite(days) || days < 0 || days > 2_958_466) return text;
  const firstDay = dates1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const shown = new Date(firstDay + Math.round(days * 86_400) * 1_000).toISOString();
  const [date, time] = [shown.slice(0, 10), shown.slice(11, 19)];
  if (days < 1) return time;
  return (days * DAY_MILLISECONDS) % DAY_MILLISECONDS === 0 ? date : `${date} ${time}`;
}
