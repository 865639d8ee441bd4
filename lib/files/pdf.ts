import { FileFault } from './fileFault.ts';

/** Readers of PDFs look for the marker only here. Other bytes may precede it. */
const MARKER_WITHIN = 1_024;

/** Throws FileFault unless the file begins like a PDF. Nothing else in it is read, and nothing is run. */
export function requirePdf(bytes: Buffer): void {
  if (!bytes.subarray(0, MARKER_WITHIN).includes('%PDF-')) throw new FileFault('is not a PDF');
}
