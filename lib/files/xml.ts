import { SaxesParser } from 'saxes';
import { InvalidFileError } from './invalidFileError.ts';
import { markedEncoding } from './text.ts';

const MAX_ATTRIBUTES = 100;
const MAX_DEPTH = 100;
const CHUNK_BYTES = 64 * 1_024;

/** Elements and characters that may still be read in one file. Limits its CPU time. */
export interface XmlBudget {
  elements: number;
  characters: number;
}

/** The parser needs about 0.3 s of CPU time to use it up. */
export function newXmlBudget(): XmlBudget {
  return { elements: 300_000, characters: 6_000_000 };
}

/** Element names are without prefixes. Each function may throw `STOP`. */
export interface XmlReader {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Stops reading without an error. */
export const STOP = new Error('Stop');

/**
 * A class, because with an eighth function of `parser.on` V8 stores the parser as a dictionary, which makes it three to
 * seven times slower.
 */
class StrictParser extends SaxesParser {
  override fail(): never {
    throw new InvalidFileError('is damaged: its XML is malformed');
  }
}

/**
 * Reads in chunks and takes from the budget. Rejects document types, so a document cannot define entities. Throws
 * InvalidFileError if the XML cannot be decoded, is malformed or is above a limit.
 */
export function readXml(bytes: Buffer, reader: XmlReader, budget: XmlBudget): void {
  const parser = new StrictParser();
  let [depth, attributes] = [0, 0];
  parser.on('doctype', () => parser.fail());
  parser.on('attribute', () => {
    if (++attributes > MAX_ATTRIBUTES) parser.fail();
  });
  parser.on('opentagstart', () => {
    attributes = 0;
    if (++depth > MAX_DEPTH) parser.fail();
    if (--budget.elements < 0) throw new InvalidFileError('is too large: its parts have too many elements in all');
  });
  parser.on('opentag', (tag) => reader.open?.(localName(tag.name), tag.attributes as Record<string, string>));
  parser.on('text', (text) => reader.text?.(text));
  parser.on('cdata', (text) => reader.text?.(text));
  parser.on('closetag', (tag) => {
    depth--;
    reader.close?.(localName(tag.name));
  });
  try {
    const decode = newDecoder(markedEncoding(bytes) ?? 'utf-8');
    let carriageReturn = '';
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      const text = carriageReturn + decode(bytes.subarray(start, start + CHUNK_BYTES));
      // The line feed can be in the next chunk.
      carriageReturn = text.endsWith('\r') ? '\r' : '';
      const complete = text.slice(0, text.length - carriageReturn.length);
      budget.characters -= complete.length;
      if (budget.characters < 0) throw new InvalidFileError('is too large: its parts have too many characters in all');
      // The parser handles carriage returns one by one, which costs memory.
      parser.write(complete.replace(/\r\n?/g, '\n'));
    }
    parser.write(decode() + carriageReturn.replace('\r', '\n')).close();
  } catch (error) {
    if (error !== STOP) throw error;
  }
}

function newDecoder(encoding: string): (chunk?: Uint8Array) => string {
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (chunk) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new InvalidFileError(`is damaged: its XML is not ${encoding.toUpperCase()}`);
    }
  };
}

/** Each document chooses its own prefixes. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
