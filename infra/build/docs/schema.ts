import type { JsonSchema } from '../../../lib/openapi/document.ts';
import { type Html, html } from '../../../lib/shared/html.ts';
import { renderText, type Resolve } from './markdown.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Row {
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

const COMPONENTS = '#/components/schemas/';

/** Fields of named schemas are in the tables of these schemas. */
export function fieldTable(schema: JsonSchema, label: string, resolve: Resolve): Html {
  const top = schema as Schema;
  const rows = rowsOf(top, '');
  const note = top.description === undefined ? '' : renderText(top.description, resolve);
  if (rows.length === 0) return html`${note}<p>${typeOf(top)}</p>\n`;
  return html`${note}<div class="wide" tabindex="0"><table>
<thead><tr><th>${label}</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${rows.map((row) => fieldRow(row, resolve))}</tbody>
</table></div>
`;
}

export function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' && item.startsWith(COMPONENTS)
      ? [item.slice(COMPONENTS.length)]
      : namesIn(item),
  );
}

export function schemaId(name: string): string {
  return `schema-${name}`;
}

function fieldRow({ path, schema, required }: Row, resolve: Resolve): Html {
  const facts = [...(required ? ['required'] : []), ...limitsOf(schema)];
  return html`<tr><td><code>${path}</code></td><td>${typeOf(schema)}${facts.length > 0 ? html` <span class="facts">${facts.join('; ')}</span>` : ''}</td><td>${renderText(descriptionOf(schema), resolve)}</td></tr>
`;
}

function descriptionOf(schema: Schema): string {
  return [schema.description, ...variantsOf(schema).map(({ description }) => description), schema.items?.description]
    .filter((text) => text !== undefined)
    .join(' ');
}

function rowsOf(schema: Schema, path: string): Row[] {
  const nested = [
    ...variantsOf(schema).flatMap((variant) => rowsOf(variant, path)),
    ...(schema.items ? rowsOf(schema.items, `${path}[]`) : []),
    ...(typeof schema.additionalProperties === 'object' ? rowsOf(schema.additionalProperties, `${path}.*`) : []),
  ];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const required = schema.required?.includes(name) ?? false;
    return [{ path: fieldPath, schema: field, required }, ...rowsOf(field, fieldPath)];
  });
  const rows = new Map([...own, ...nested].map((row) => [row.path, row]));
  return [...rows.values()];
}

function variantsOf({ anyOf = [], oneOf = [], allOf = [] }: Schema): readonly Schema[] {
  return [...anyOf, ...oneOf, ...allOf].filter(({ type }) => type !== 'null');
}

function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(COMPONENTS.length);
    return html`<a href="#${schemaId(name)}">${name}</a>`;
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joined(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  const variants = variantsOf(schema);
  if (variants.length > 0) return joined(distinct(variants.map(typeOf)));
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  if (types.length === 0) return html`any value`;
  return joined(
    types.map((type) => {
      if (type === 'array') return html`list of ${schema.items ? typeOf(schema.items) : 'any values'}`;
      return html`${schema.format === undefined ? type : `${type}, ${schema.format}`}`;
    }),
  );
}

function distinct(pieces: readonly Html[]): Html[] {
  return [...new Map(pieces.map((piece) => [String(piece), piece])).values()];
}

function joined(pieces: readonly Html[]): Html {
  return html`${pieces.map((piece, index) => (index === 0 ? piece : html` or ${piece}`))}`;
}

function limitsOf(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  return [
    ...range(minLength, maxLength, 'characters'),
    ...range(minimum, maximum, ''),
    ...range(minItems, maxItems, 'items'),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
    ...variantsOf(schema).flatMap(limitsOf),
  ];
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  const number = (value: number) => value.toLocaleString('en');
  const isOpen = most === undefined || most >= Number.MAX_SAFE_INTEGER;
  const text = [
    ...(least === undefined || least <= Number.MIN_SAFE_INTEGER
      ? []
      : [isOpen ? `at least ${number(least)}` : number(least)]),
    ...(isOpen ? [] : [least === undefined ? `at most ${number(most)}` : `to ${number(most)}`]),
  ].join(' ');
  return text === '' ? [] : [`${text} ${unit}`.trim()];
}
