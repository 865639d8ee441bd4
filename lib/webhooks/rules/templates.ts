/** A field that holds a text with variables; the field `<name>Data` beside it holds their values. */
const TEMPLATE = /^display\w+Template$/;
/** Notifications write variables as `{name}`, activities as `{{name}}`. */
const VARIABLE = /\{\{([^{}]+)\}\}|\{([^{}]+)\}/g;

type Json = Readonly<Record<string, unknown>>;

/**
 * An object with the text of each template beside it, at any depth: `displayHeadlineMessage` beside
 * `displayHeadlineMessageTemplate` and `displayHeadlineMessageTemplateData`. A variable without a value stays as it is written.
 */
export function fillTemplates(data: Json): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      const field: [string, unknown] = [key, fillWithin(value)];
      if (typeof value !== 'string' || !TEMPLATE.test(key)) return [field];
      return [field, [key.slice(0, -'Template'.length), fill(value, data[`${key}Data`])]];
    }),
  );
}

function fillWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fillWithin);
  return typeof value === 'object' && value !== null ? fillTemplates(value as Json) : value;
}

function fill(template: string, values: unknown): string {
  return template.replace(VARIABLE, (variable, twice: string | undefined, once: string | undefined) => {
    const name = (twice ?? once ?? '').trim();
    return asText(typeof values === 'object' && values !== null ? (values as Json)[name] : undefined) ?? variable;
  });
}

/** A value as a text of one line: users by their name, or what else they are known by. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, email, userId } = value as Json;
  return [name, email, userId].find((one) => typeof one === 'string');
}
