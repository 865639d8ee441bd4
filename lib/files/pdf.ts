import { FileFault } from './fileFault.ts';

/** Its marker may come late, but within this; what stands before it is nobody's. */
const MARKER_WITHIN = 1_024;

/** Refuses what does not begin as a PDF does. Nothing in it is looked at, or run. */
export function requirePdf(bytes: Buffer): void {
  if (!bytes.subarray(0, MARKER_WITHIN).includes('%PDF-')) throw new FileFault('is not a PDF');
}
