const NEWLINE = 0x0a;
const MARK = '"_aws"';
/** Size limit of CloudWatch for an event. */
const MOST_BYTES = 1024 * 1024;

/**
 * Finds metrics in the output of a function: lines of JSON in CloudWatch's embedded metric format. A chunk may end
 * within a line. Most output has no metrics, so only lines with `_aws` are parsed.
 */
export class MetricLines {
  readonly #take: (line: Readonly<Record<string, unknown>>) => void;
  #rest = Buffer.alloc(0);

  constructor(take: (line: Readonly<Record<string, unknown>>) => void) {
    this.#take = take;
  }

  write(chunk: Buffer): void {
    if (this.#rest.length === 0 && chunk.at(-1) === NEWLINE && !chunk.includes(MARK)) return;
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      this.#look(text.subarray(start, end));
      start = end + 1;
    }
    const rest = text.subarray(start);
    this.#rest = rest.length > MOST_BYTES ? Buffer.alloc(0) : Buffer.from(rest);
  }

  #look(line: Buffer): void {
    if (!line.includes(MARK)) return;
    let value: unknown;
    try {
      value = JSON.parse(line.toString());
    } catch {
      // A text that mentions `_aws` but is not JSON.
      return;
    }
    if (typeof value === 'object' && value !== null && '_aws' in value) this.#take(value);
  }
}
