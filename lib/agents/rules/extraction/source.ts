import { invalid } from '../../../shared/errors.ts';
import { readCsv } from '../../../files/csv.ts';
import { FileFault } from '../../../files/fileFault.ts';
import { requirePdf } from '../../../files/pdf.ts';
import { decodeText } from '../../../files/text.ts';
import { readWorkbook } from '../../../files/xlsx.ts';
import { fitOf } from './columns.ts';
import { type Parts, partsOfPdf, partsOfTables, partsOfText } from './parts.ts';
import type { Format } from './request.ts';
import { agentsOfTables } from './tables.ts';
import type { ExtractionResult } from './result.ts';

/** What a file came to: the agents in it, or the parts that a model has to be asked about. */
export type Source = { readonly result: ExtractionResult } | { readonly parts: Parts };

/** Reads a file as far as that goes without a model. INVALID_ARGUMENT when it is not what it is said to be. */
export function readSource(format: Format, bytes: Buffer): Source {
  try {
    return readAs[format](bytes);
  } catch (error) {
    if (error instanceof FileFault)
      throw invalid({ path: ['fileBase64'], code: 'unreadable', message: `fileBase64 ${error.message}` });
    throw error;
  }
}

const readAs: Readonly<Record<Format, (bytes: Buffer) => Source>> = {
  csv: (bytes) => ofTables([readCsv(decodeText(bytes), fitOf)]),
  xlsx: (bytes) => ofTables(readWorkbook(bytes)),
  text: (bytes) => ({ parts: partsOfText(decodeText(bytes)) }),
  pdf: (bytes) => {
    requirePdf(bytes);
    return { parts: partsOfPdf(bytes) };
  },
};

function ofTables(tables: Parameters<typeof agentsOfTables>[0]): Source {
  const result = agentsOfTables(tables);
  return result ? { result } : { parts: partsOfTables(tables) };
}
