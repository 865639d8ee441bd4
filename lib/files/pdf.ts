import { InvalidFileError } from './invalidFileError.ts';

/**
 * The number of bytes at the start of a file in which PDF readers search the marker `%PDF-`. Other bytes can precede the
 * marker.
 */
const MARKER_WITHIN = 1_024;

/** Throws InvalidFileError if the file does not begin like a PDF. No other part of the file is read. */
export function requirePdf(bytes: Buffer): void {
  if (!bytes.subarray(0, MARKER_WITHIN).includes('%PDF-')) throw new InvalidFileError('is not a PDF');
}
