import { parseHttpUrl } from '../../net/httpUrl.ts';

export type MayShowPicture = (url: URL) => boolean;

type CleanValue = (value: string, mayShow: MayShowPicture) => string | undefined;

const any: CleanValue = (value) => value;
const number: CleanValue = (value) => (/^\d{1,4}$/.test(value) ? value : undefined);
const oneOf =
  (...allowed: readonly string[]): CleanValue =>
  (value) =>
    allowed.includes(value) ? value : undefined;

const link: CleanValue = (value) => {
  const url = value.trim();
  return parseHttpUrl(url) || /^mailto:[^\s<>"]+$/i.test(url) ? url : undefined;
};
const picture: CleanValue = (value, mayShow) => {
  const url = parseHttpUrl(value.trim());
  return url && mayShow(url) ? value.trim() : undefined;
};

/** With other classes, markup could get styles of the page with which it covers the page. */
const CLASS = /^(?:ql-[\w-]+|language-[\w-]+|mention[\w-]*|task-list(?:-item)?)$/;
const classes: CleanValue = (value) =>
  value
    .split(/\s+/)
    .filter((name) => CLASS.test(name))
    .join(' ') || undefined;

const STYLES: Readonly<Record<string, RegExp>> = {
  color: /^(?:[a-z]+|#[\da-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/]+\))$/i,
  'background-color': /^(?:[a-z]+|#[\da-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/]+\))$/i,
  'font-style': /^(?:italic|normal)$/i,
  'font-weight': /^(?:bold|normal|[1-9]00)$/i,
  'text-align': /^(?:left|right|center|justify|start|end)$/i,
  'text-decoration': /^(?:underline|line-through|none)$/i,
};
const styles: CleanValue = (value) =>
  value
    .split(';')
    .flatMap((declaration) => {
      const [, name = '', setting = ''] = /^\s*([a-z-]+)\s*:(.*)$/is.exec(declaration) ?? [];
      const property = name.toLowerCase();
      const isAllowed = Object.hasOwn(STYLES, property) && STYLES[property]?.test(setting.trim());
      return isAllowed ? [`${property}: ${setting.trim()}`] : [];
    })
    .join('; ') || undefined;

type Attributes = Readonly<Record<string, CleanValue>>;

/** Scripts of a page act on other names, such as `bind` or `toggle`. */
const dataNames =
  'char checked denotation-char display-name id indent index label language list mention mention-id mention-suggestion-char ' +
  'type user-id userid username value';

const everywhere: Attributes = {
  class: classes,
  contenteditable: oneOf('false'),
  dir: oneOf('ltr', 'rtl', 'auto'),
  lang: (value) => (/^[a-z\d-]{1,35}$/i.test(value) ? value : undefined),
  style: styles,
  title: any,
  ...Object.fromEntries(dataNames.split(' ').map((name) => [`data-${name}`, any])),
};

const cell = { colspan: number, rowspan: number };
const withoutOwnAttributes =
  'abbr b bdi blockquote br caption cite code dd del dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd mark p pre q ' +
  's samp small span strike strong sub summary sup table tbody tfoot thead tr u ul var wbr';

const elements: ReadonlyMap<string, Attributes> = new Map(
  Object.entries({
    ...Object.fromEntries(withoutOwnAttributes.split(' ').map((name) => [name, {}])),
    a: { href: link, target: oneOf('_blank') },
    details: { open: any },
    img: { src: picture, alt: any, width: number, height: number },
    li: { value: number },
    ol: { start: number, type: oneOf('1', 'a', 'A', 'i', 'I') },
    td: cell,
    th: cell,
    time: { datetime: any },
  } satisfies Record<string, Attributes>),
);

export const removedElements: ReadonlySet<string> = new Set(
  (
    'applet audio canvas datalist embed frameset head iframe math noembed noframes noscript object plaintext script select style ' +
    'svg template textarea title video xmp'
  ).split(' '),
);

interface Attribute {
  name: string;
  value: string;
}

export function allowedAttributes(
  element: string,
  sent: readonly Attribute[],
  mayShow: MayShowPicture,
): Attribute[] | undefined {
  const own = elements.get(element);
  if (!own) return undefined;
  const attributes = sent.flatMap(({ name, value }) => {
    const clean = [own, everywhere].find((rules) => Object.hasOwn(rules, name))?.[name];
    const cleaned = clean?.(value, mayShow);
    return cleaned === undefined ? [] : [{ name, value: cleaned }];
  });
  const has = (name: string) => attributes.some((attribute) => attribute.name === name);
  if (element === 'img' && !has('src')) return undefined;
  return element === 'a' && has('href')
    ? [...attributes, { name: 'rel', value: 'noopener noreferrer nofollow' }]
    : attributes;
}
