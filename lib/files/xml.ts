import { SaxesParser } from 'saxes';
import { FileFault } from './fileFault.ts';

const MOST_ATTRIBUTES = 100;
const DEEPEST = 100;
/** Of a document that is read to its end; those that hold many rows are not. */
const MOST_ELEMENTS = 300_000;
const CHUNK_BYTES = 64 * 1_024;

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
 * depth and attributes. FileFault when it is not well-formed.
 */
export function readXml(bytes: Buffer, reader: XmlReader): void {
  const parser = new SaxesParser();
  let [depth, attributes, elements] = [0, 0, 0];
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
    if (++elements > MOST_ELEMENTS) throw new FileFault('is too large: one of its parts has too many elements');
  });
  parser.on('opentag', (tag) => reader.open?.(localName(tag.name), tag.attributes as Record<string, string>));
  parser.on('text', (text) => reader.text?.(text));
  parser.on('cdata', (text) => reader.text?.(text));
  parser.on('closetag', (tag) => {
    depth--;
    reader.close?.(localName(tag.name));
  });
  try {
    const decoder = new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8');
    // The parser handles carriage returns one by one, at a price in memory.
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) parser.write(decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: true }).replace(/\r\n?/g, '\n'));
    parser.write(decoder.decode()).close();
  } catch (error) {
    if (error !== STOP) throw error;
  }
}

/** A name without its prefix: which one stands for which vocabulary is the writer's choice. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
