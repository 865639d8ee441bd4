/** The value that a cell holds, or what is wrong with it. Blank cells are not read. */
export type CellReader = (cell: string) => { readonly value: unknown } | { readonly wrong: string };

/** What spreadsheets write where a formula failed. */
const FAILED = /^#(N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NULL!|NUM!|SPILL!|CALC!)$/;

/** Text as it is: what begins with `=` or `+` is text like any other, and is never run. */
export const text: CellReader = (cell) => (FAILED.test(cell) ? { wrong: `holds the error ${cell}` } : { value: cell });

const yes = new Set(['yes', 'true', '1', 'y', 'on', 'x', 'enabled', 'active']);
const no = new Set(['no', 'false', '0', 'n', 'off', 'disabled', 'inactive']);

export const yesOrNo: CellReader = (cell) => {
  const said = cell.toLowerCase();
  return yes.has(said)
    ? { value: true }
    : no.has(said)
      ? { value: false }
      : { wrong: `must be yes or no, not "${shortened(cell)}"` };
};

/** Longer than any name of the service's; what is matched against patterns must not be long. */
const LONGEST_NAME = 200;

/** One of the service's own names, such as `web-page-text`, also where it is written `Web page text`. */
export const nameOf: CellReader = (cell) => {
  const read = text(cell);
  if (cell.length > LONGEST_NAME) return { wrong: `must not have more than ${LONGEST_NAME} characters` };
  return 'wrong' in read
    ? read
    : {
        value: cell
          .toLowerCase()
          .split('+')
          .map((part) => part.trim())
          .join('+')
          .replace(/[\s_]+/g, '-'),
      };
};

/** Several values in one cell: on lines or parted by semicolons, or else by commas. */
export function listOf(item: CellReader): CellReader {
  return (cell) => {
    const parts = cell
      .split(/[;\n]/.test(cell) ? /[;\n]/ : ',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    const read = parts.map(item);
    const wrong = read.find((one) => 'wrong' in one);
    return (
      wrong ??
      (parts.length === 0
        ? { wrong: 'holds no value' }
        : { value: read.map((one) => (one as { value: unknown }).value) })
    );
  };
}

const LONGEST_QUOTED = 60;

function shortened(cell: string): string {
  return cell.length > LONGEST_QUOTED ? `${cell.slice(0, LONGEST_QUOTED)}…`.toWellFormed() : cell;
}
