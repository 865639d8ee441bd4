import type { ContentPolicy } from '../../app/rules/userRule.ts';
import { parseHttpUrl } from '../../net/httpUrl.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { isObject } from '../../shared/collections.ts';
import { fieldName, invalid, type Issue } from '../../shared/errors.ts';
import { limits } from '../../shared/schema.ts';
import { matchesDomain } from '../../workspaces/rules/domains.ts';

/** Per call. The worst known markup takes about a second. */
const MAX_MARKUP_BYTES = 256 * 1024;
const MAX_ISSUES = 100;

const MARKUP = /(?:html|markup)$/i;
const URL_FIELD = /(?:ur[il]|href|src|permalink)s?$/i;
const PICTURE =
  /^src$|(?:avatar|icon|image|img|logo|photo|picture|poster|thumb|thumbnail)(?:href|link|path|src|ur[il])?s?$/i;

const PLAIN =
  /^(?:description|ids?|label|message|name|reason|text|title)$|(?:Description|Ids?|Label|Message|Name|Reason|Text|Title)$/;

type FieldUse = 'markup' | 'picture' | 'url' | 'plain' | 'unknown';

export function fieldUse(name: string): FieldUse {
  if (MARKUP.test(name)) return 'markup';
  if (PICTURE.test(name)) return 'picture';
  if (URL_FIELD.test(name)) return 'url';
  return PLAIN.test(name) ? 'plain' : 'unknown';
}

function startOf(text: string): string {
  let start = 0;
  while (start < text.length && text.charCodeAt(start) <= 32) start += 1;
  return text.slice(start, start + 256).replace(/[\t\n\r]/g, '');
}

function isActiveUrl(text: string): boolean {
  return /^(?:(?:java|vb|live)script:|data:[^,]{0,100},)/i.test(startOf(text));
}

const looksLikeUrl = (text: string) => /^(?:[a-z][a-z\d+.-]*:|[\\/]{2})/i.test(startOf(text));

const isPictureType = (type: unknown) =>
  typeof type === 'string' && /^(?:image\/|(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp)$)/i.test(type);

type Path = readonly (string | number)[];

interface MarkupField {
  readonly path: Path;
  readonly markup: string;
  readonly set: (markup: string) => void;
}

/** Finds markup and URLs by field names, because objects of clients have no schema. */
export async function cleanUserContent(data: unknown, { allowedDomains, cleanMarkup }: ContentPolicy): Promise<void> {
  const issues: Issue[] = [];
  const found: MarkupField[] = [];
  const mayShow = ({ hostname }: URL) => matchesDomain(hostname, allowedDomains);

  const refuse = (path: Path, message: string) => {
    issues.push({ path: [...path], code: 'unsafe_content', message });
    if (issues.length >= MAX_ISSUES) throw failure(issues);
  };

  const checkText = (text: string, use: FieldUse, path: Path) => {
    if (text === '' || use === 'plain') return;
    if (use === 'unknown') {
      if (isActiveUrl(text)) refuse(path, 'must not be a URL with the scheme javascript, vbscript or data');
      return;
    }
    const mustBeUrl = URL_FIELD.test(String(path.findLast((part) => typeof part === 'string')));
    if (use === 'picture' && !mustBeUrl && !looksLikeUrl(text)) return;
    const url = parseHttpUrl(text);
    if (!url) refuse(path, 'must be an http(s) URL');
    else if (use === 'picture' && !mayShow(url))
      refuse(path, 'must be on an allowed domain of the API key, as every picture');
  };

  const visit = (value: unknown, use: FieldUse, path: Path, set: (cleaned: string) => void): void => {
    if (typeof value === 'string') {
      if (use === 'markup') found.push({ path, markup: value, set });
      else checkText(value, use, path);
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        visit(item, use, [...path, index], (cleaned) => (value[index] = cleaned));
      });
    } else if (isObject(value)) visitObject(value, path);
  };

  const visitObject = (object: Record<string, unknown>, path: Path) => {
    const showsPicture = isPictureType(object.mimeType) || isPictureType(object.type);
    for (const [name, value] of Object.entries(object)) {
      if (name === 'photoUrl' && typeof value === 'string' && isForeignPicture(value, mayShow)) {
        delete object.photoUrl;
        continue;
      }
      const use = showsPicture && name === 'url' ? 'picture' : fieldUse(name);
      visit(value, use, [...path, name], (cleaned) => (object[name] = cleaned));
    }
  };

  visit(data, 'unknown', [], () => undefined);
  let bytes = 0;
  for (const { path, markup, set } of found) {
    bytes += Buffer.byteLength(markup);
    if (!cleanMarkup) refuse(path, 'must be left out: this endpoint takes no markup from user tokens');
    else if (isLongerThan(markup, limits.textBytes)) refuse(path, `must be at most ${limits.textBytes} bytes of UTF-8`);
    else if (bytes > MAX_MARKUP_BYTES) refuse(path, `must not exceed ${MAX_MARKUP_BYTES} bytes of markup in one call`);
    else if (issues.length === 0) {
      const cleaned = await cleanMarkup(markup, { mayShow, maxBytes: limits.textBytes });
      if ('fault' in cleaned) refuse(path, cleaned.fault);
      else set(cleaned.markup);
    }
  }
  if (issues.length > 0) throw failure(issues);
}

function isForeignPicture(text: string, mayShow: (url: URL) => boolean): boolean {
  const url = parseHttpUrl(text);
  return url !== undefined && !mayShow(url);
}

function failure(issues: readonly Issue[]) {
  const [first, ...more] = issues.map((issue) => ({ ...issue, message: `${fieldName(issue.path)} ${issue.message}` }));
  return invalid(first as Issue, ...more);
}
