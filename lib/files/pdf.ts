import { InvalidFileError } from './invalidFileError.ts';

/** PDF readers look for the marker `%PDF-` in this many bytes at the start of a file. Other bytes can come before the marker. */
const MARKER_WITHIN = 1_024;

/** Throws InvalidFileError if the marker of a PDF is missing at the start of the file. Does not read the rest of the file. */
export function requirePdf(bytes: Buffer): void {
  if (!bytes.subarray(0, MARKER_WITHIN).includes('%PDF-')) throw new InvalidFileError('is not a PDF');
}
