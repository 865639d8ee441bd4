import { readCsv } from '../../../files/csv.ts';
import { InvalidFileError } from '../../../files/invalidFileError.ts';
import { decodeText } from '../../../files/text.ts';
import { readWorkbook } from '../../../files/xlsx.ts';
import { invalid } from '../../../shared/errors.ts';
import { scoreTable } from './agentColumns.ts';
import { extractFromTables, type SourceTable } from './extractFromTables.ts';
import type { FileFormat } from './extractionRequest.ts';
import type { ExtractionResult } from './extractionResult.ts';
import { type FileParts, partsOfPdf, partsOfTables, partsOfText } from './fileParts.ts';

/** The agents that were read without a model, or the parts to send to a model. */
export type ExtractionSource = { readonly result: ExtractionResult } | { readonly parts: FileParts };

/**
 * Throws INVALID_ARGUMENT for a file that cannot be read. `charset` is the encoding of a text without a byte order
 * mark.
 */
export function readSource(format: FileFormat, bytes: Buffer, charset?: string): ExtractionSource {
  try {
    switch (format) {
      case 'csv':
        return readTables([readCsv(decodeText(bytes, charset), scoreTable)]);
      case 'xlsx':
        return readTables(readWorkbook(bytes));
      case 'text':
        return { parts: partsOfText(decodeText(bytes, charset)) };
      case 'pdf':
        requirePdf(bytes);
        return { parts: partsOfPdf(bytes) };
    }
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    throw invalid({ path: ['fileBase64'], code: 'unreadable', message: `fileBase64 ${error.message}` });
  }
}

function readTables(tables: readonly SourceTable[]): ExtractionSource {
  const result = extractFromTables(tables);
  return result ? { result } : { parts: partsOfTables(tables) };
}

/** PDF readers look for `%PDF-` in this many bytes from the start. Other bytes can come before it. */
const MARKER_WITHIN = 1_024;

function requirePdf(bytes: Buffer): void {
  if (!bytes.subarray(0, MARKER_WITHIN).includes('%PDF-')) throw new InvalidFileError('is not a PDF');
}
