import { SaxesParser } from 'saxes';
import { FileFault } from './fileFault.ts';

const MOST_ATTRIBUTES = 100;
const DEEPEST = 100;
const CHUNK_BYTES = 64 * 1_024;

/** How much may still be read of the XML documents of one file. Reading takes time for each element and each character. */
export interface XmlBudget {
  elements: number;
  characters: number;
}

/** What the documents of one file may have in all: about 0.7 s of CPU. Documents that hold many rows are not read to their end. */
export function newXmlBudget(): XmlBudget {
  return { elements: 300_000, characters: 6_000_000 };
}

/** What is told of an XML document; names are given without their prefixes. Any of them ends the reading by `STOP`. */
export interface XmlReader {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Thrown by a reader that has what it wants. */
export const STOP = new Error('Stop');

/**
 * Reads an XML document piece by piece. There is no document type, and so there are no entities but XML's own; elements are bounded in
 * depth and attributes. What is read is taken from the budget. FileFault when the document is not well-formed, or the budget is used up.
 */
export function readXml(bytes: Buffer, reader: XmlReader, budget: XmlBudget): void {
  const parser = new SaxesParser();
  let [depth, attributes] = [0, 0];
  const refuse = () => {
    throw new FileFault('is damaged: its XML is not what it should be');
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('attribute', () => {
    if (++attributes > MOST_ATTRIBUTES) refuse();
  });
  parser.on('opentagstart', () => {
    attributes = 0;
    if (++depth > DEEPEST) refuse();
    if (--budget.elements < 0) throw new FileFault('is too large: its parts have too many elements in all');
  });
  parser.on('opentag', (tag) => reader.open?.(localName(tag.name), tag.attributes as Record<string, string>));
  parser.on('text', (text) => reader.text?.(text));
  parser.on('cdata', (text) => reader.text?.(text));
  parser.on('closetag', (tag) => {
    depth--;
    reader.close?.(localName(tag.name));
  });
  try {
    const decoder = new TextDecoder(
      bytes[0] === 0xff && bytes[1] === 0xfe
        ? 'utf-16le'
        : bytes[0] === 0xfe && bytes[1] === 0xff
          ? 'utf-16be'
          : 'utf-8',
    );
    // The parser handles carriage returns one by one, at a price in memory.
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const text = decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: true });
      if ((budget.characters -= text.length) < 0)
        throw new FileFault('is too large: its parts have too many characters in all');
      parser.write(text.replace(/\r\n?/g, '\n'));
    }
    parser.write(decoder.decode()).close();
  } catch (error) {
    if (error !== STOP) throw error;
  }
}

/** A name without its prefix: which one stands for which vocabulary is the writer's choice. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
