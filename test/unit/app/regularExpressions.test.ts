import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as ts from 'typescript';
import { readList, readName } from '../../../lib/agents/rules/extraction/cellReaders.ts';
import { ExtractionRequest } from '../../../lib/agents/rules/extraction/extractionRequest.ts';
import { parsePublicKey } from '../../../lib/crypto/publicKey.ts';
import { openDocument } from '../../../lib/editors/rules/yjs/document.ts';
import { isLayoutText } from '../../../lib/editors/rules/yjs/parseXml.ts';
import { findValueFault, replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { readCsv } from '../../../lib/files/csv.ts';
import { readDateStyles } from '../../../lib/files/xlsxDates.ts';
import { newXmlBudget } from '../../../lib/files/xml.ts';
import { oneLine, toQuote } from '../../../lib/mail/rules/plainText.ts';
import { htmlToText } from '../../../lib/markup/rules/htmlToText.ts';
import { isAllowedHost } from '../../../lib/net/addressPolicy.ts';
import { MailAddress, mailAddressOf } from '../../../lib/shared/mailAddress.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { Instant } from '../../../lib/shared/times.ts';
import { Domain, parseDomain } from '../../../lib/workspaces/rules/domains.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { findSlowness } from '../../support/regexAnalysis.ts';

const projectDir = join(import.meta.dirname, '../../..');
const sources = globSync('{functions,lib}/**/*.ts', { cwd: projectDir }).sort();

/** Parsing takes most of the time. A literal never follows a name, a number or one of these characters. */
const mayHaveExpression = /[^\w'"`.\]$*/<#]\/(?![/*])|RegExp/;

/**
 * Returns the regular expressions of a source file. `made` has the places that make an expression from text, because
 * these cannot be analysed.
 */
function expressionsOf(file: string): { literals: RegExp[]; made: string[] } {
  const [literals, made]: [RegExp[], string[]] = [[], []];
  const text = readFileSync(join(projectDir, file), 'utf8');
  if (!mayHaveExpression.test(text)) return { literals, made };
  const source = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      literals.push(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)));
    }
    if (
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'RegExp'
    )
      made.push(`${file}: ${node.getText(source)}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { literals, made };
}

describe('regular expressions of deployed code', () => {
  const all = sources.map(expressionsOf);

  test('match in linear time', () => {
    const literals = new Map(all.flatMap(({ literals: some }) => some.map((regex) => [String(regex), regex])));
    expect(literals.size).toBeGreaterThan(80);
    expect(
      [...literals.values()].flatMap((regex) => {
        const slowness = findSlowness(regex);
        return slowness === undefined ? [] : `${String(regex)}: ${slowness}`;
      }),
    ).toEqual([]);
  });

  test('are written as literals, so that they can be analysed', () => {
    expect(all.flatMap(({ made }) => made)).toEqual([]);
  });
});

describe('the analysis of regular expressions', () => {
  test.each([
    /\s+$/,
    /^\s*\n\s*$/,
    /\s*\+\s*/g,
    /a+b+/,
    /x*?y/,
    /^(a+)+$/,
    /^(a|a)*$/,
    /^(?:a*)*b/,
    /(?:ab)+c/,
    /^\d{1,20}\d{1,20}$/,
    /^(?:a|ab|b)*c/,
    /\[[^\]]*\]/g,
    /[\p{L}]+\p{Lu}+$/u,
  ])('reports %s as slow', (regex) => {
    expect(findSlowness(regex)).toBeDefined();
  });

  test.each([
    /\s+/g,
    /^[a-z]+@[a-z]+$/,
    /"[^"]*"/,
    /^(?:\d+,)*\d+$/,
    /<[^<>]*>/g,
    /^a{2,5}b?$/,
    /[^]{1,12000}/gu,
    /^(?!msg_)[\w-]{1,64}$/,
    /(?<=\n)/,
    /^[ \t]*$/,
    /\r\n?/g,
  ])('reports %s as linear', (regex) => {
    expect(findSlowness(regex)).toBeUndefined();
  });

  test.each([/(a)\1/, /a(?=.*b)/])('throws for %s, because the analysis does not support it', (regex) => {
    expect(() => findSlowness(regex)).toThrow();
  });
});

describe('hostile text', () => {
  const MB = 1_000_000;

  test('of 4 MB of spaces in XML is read in less than 100 ms of CPU', () => {
    const text = `${'\n'.repeat(4 * MB)}x`;
    expect(cpuMilliseconds(() => isLayoutText(text), { limit: 100 })).toBeLessThan(100);
    const xml = `<p>a</p>${'\n'.repeat(2 * MB)}x`;
    expect(cpuMilliseconds(() => findValueFault('xml', xml), { limit: 100 })).toBeLessThan(100);
    expect(isLayoutText(' \n\t')).toBe(true);
    expect([isLayoutText(' \t'), isLayoutText(''), isLayoutText('\n.')]).toEqual([false, false, false]);
  });

  test('in XML is stored in linear time', () => {
    for (const text of ['\n', ' \n', '&#13;', '<b>\n</b>'.repeat(10)]) {
      const xml = `<p>a</p>${text.repeat(Math.min(MB, 100_000))}x`;
      expect(
        cpuMilliseconds(() => findValueFault('xml', xml) ?? replaceValue(openDocument([]), 'xml', 'default', xml), {
          limit: 1_000,
        }),
      ).toBeLessThan(1_000);
    }
  });

  test('as 20,000 number formats of a spreadsheet takes less than 1 s of CPU', () => {
    const format = `<numFmt numFmtId="200" formatCode="${'['.repeat(255)}"/>`;
    const styles = Buffer.from(`<a>${format.repeat(20_000)}</a>`);
    const read = () => readDateStyles(styles, newXmlBudget());
    expect(cpuMilliseconds(read, { limit: 1_000, runs: 1 })).toBeLessThan(1_000);
  });

  const parsers: [string, (text: string) => unknown][] = [
    ['a domain', (text) => Domain.safeParse(text)],
    ['the host of a domain', (text) => parseDomain(text)],
    ['an owner e-mail address', (text) => MailAddress.safeParse(text)],
    ['the e-mail address of a profile', (text) => mailAddressOf({ email: text })],
    ['a time', (text) => Instant.safeParse(text)],
    ['an id', (text) => Id.safeParse(text)],
    ['a host to deliver to', (text) => isAllowedHost(text)],
    ['a public key', (text) => parsePublicKey(text)],
    ['a file in base64', (text) => ExtractionRequest.safeParse({ fileBase64: text, mimeType: 'text/csv' })],
    ['a cell with names', (text) => readList(readName)(text)],
    ['HTML in a mail', htmlToText],
    ['a line of a mail', (text) => oneLine(text)],
    ['a quote in a mail', toQuote],
    ['a CSV file', (text) => readCsv(text, (rows) => rows.length)],
  ];
  const pieces = [
    'a',
    'A',
    '1',
    '.',
    'a.',
    '-',
    '_',
    '=',
    '+',
    ' ',
    '\n',
    ' +',
    '\r',
    '"',
    '["',
    '<',
    '<br ',
    '&',
    '&#',
    '@',
    'a@',
    ':',
    '/',
    'www.',
    'http://',
    '\u00fc',
    '-----BEGIN PUBLIC KEY-----',
    '{',
    '{{',
    'T',
    '2026-',
    '\t',
    '|,;',
  ];

  test.each(parsers)(
    'is parsed as %s in less than 1.25 s of CPU, for 99 texts of 50,000 characters',
    (_name, parse) => {
      const cost = cpuMilliseconds(
        () => {
          for (const piece of pieces) {
            const body = piece.repeat(Math.ceil(50_000 / piece.length));
            for (const text of [body, `${body}\u0001!`, `x${body}x`]) parse(text);
          }
        },
        { limit: 1_250, runs: 1 },
      );
      // If one text took quadratic time, the sum would exceed this.
      expect(cost).toBeLessThan(1_250);
    },
  );
});
