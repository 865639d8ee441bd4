import { SaxesParser } from 'saxes';
import type { WireElement, WireNode } from './xmlText.ts';

interface XmlLimits {
  readonly depth: number;
  readonly parts: number;
}

class XmlFault extends Error {}

/** What is wrong with XML, and where, or undefined. There is no DTD, and no entities but XML's own five and characters. */
export function faultOfXml(text: string, limits: XmlLimits): string | undefined {
  try {
    parseXml(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof XmlFault) return error.message;
    throw error;
  }
}

/** The nodes of XML that was found to be without fault; comments and instructions are left out, and CDATA is text. */
export function parseXml(text: string, limits?: XmlLimits): WireNode[] {
  const parser = new SaxesParser({ fragment: true, position: true });
  const roots: WireNode[] = [];
  const open: WireElement[] = [];
  let parts = 0;
  const fault = (what: string): never => {
    throw new XmlFault(`Data must be well-formed XML: line ${parser.line}, column ${parser.column}: ${what}`);
  };
  const count = (added: number) => {
    if (limits && (parts += added) > limits.parts)
      throw new XmlFault(`Data must not have more than ${limits.parts} elements and attributes in all.`);
  };
  const addText = (added: string) => {
    if (added === '') return;
    const siblings = open.at(-1)?.children ?? roots;
    const last = siblings.at(-1);
    if (typeof last === 'string') siblings[siblings.length - 1] = last + added;
    else siblings.push(added);
  };
  parser.on('error', (error) => fault(error.message.replace(/^\d+:\d+: /, '')));
  parser.on('doctype', () => fault('a document type is not allowed.'));
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ name, attributes }) => {
    if (limits && open.length >= limits.depth)
      throw new XmlFault(`Data must not be nested deeper than ${limits.depth} levels.`);
    const element = { name, attributes: Object.entries(attributes as Record<string, string>), children: [] };
    count(1 + element.attributes.length);
    (open.at(-1)?.children ?? roots).push(element);
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(text).close();
  return roots;
}
