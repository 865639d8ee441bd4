import { parseJson } from '../../../lib/shared/parseJson.ts';

const NEWLINE = 0x0a;
const MARK = '"_aws"';
/** CloudWatch's limit for a log event. */
const MAX_LOG_EVENT_BYTES = 1024 * 1024;

/**
 * Finds JSON lines in CloudWatch's embedded metric format in the output of a function. A chunk may end within a line.
 * Most lines do not contain `_aws` and are not parsed.
 */
export class MetricLines {
  readonly #onMetrics: (line: Readonly<Record<string, unknown>>) => void;
  #incompleteLine = Buffer.alloc(0);

  constructor(onMetrics: (line: Readonly<Record<string, unknown>>) => void) {
    this.#onMetrics = onMetrics;
  }

  write(chunk: Buffer): void {
    if (this.#incompleteLine.length === 0 && chunk.at(-1) === NEWLINE && !chunk.includes(MARK)) return;
    const text = this.#incompleteLine.length === 0 ? chunk : Buffer.concat([this.#incompleteLine, chunk]);
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      this.#readLine(text.subarray(start, end));
      start = end + 1;
    }
    const remainder = text.subarray(start);
    this.#incompleteLine = remainder.length > MAX_LOG_EVENT_BYTES ? Buffer.alloc(0) : Buffer.from(remainder);
  }

  #readLine(line: Buffer): void {
    if (!line.includes(MARK)) return;
    const value = parseJson(line.toString());
    if (typeof value === 'object' && value !== null && '_aws' in value) this.#onMetrics(value);
  }
}
