import { isObject } from '../../shared/collections.ts';

/**
 * Matches the names of fields with a text template. The field `<name>Data` next to such a field has the values of its variables.
 */
const TEMPLATE = /^display\w+Template$/;
/** Matches a variable in a template. Notifications write it as `{name}`, and activities write it as `{{name}}`. */
const VARIABLE = /\{\{([^{}]+)\}\}|\{([^{}]+)\}/g;

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the object with the filled text next to each template, at any depth. For example, `displayHeadlineMessageTemplate` and
 * `displayHeadlineMessageTemplateData` produce `displayHeadlineMessage`. A variable without a value stays unchanged.
 */
export function fillTemplates(data: Json): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      const field: [string, unknown] = [key, fillNested(value)];
      if (typeof value !== 'string' || !TEMPLATE.test(key)) return [field];
      return [field, [key.slice(0, -'Template'.length), fillTemplate(value, data[`${key}Data`])]];
    }),
  );
}

function fillNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fillNested);
  return isObject(value) ? fillTemplates(value) : value;
}

function fillTemplate(template: string, values: unknown): string {
  return template.replace(VARIABLE, (variable, twice: string | undefined, once: string | undefined) => {
    const name = (twice ?? once ?? '').trim();
    return asText(typeof values === 'object' && values !== null ? (values as Json)[name] : undefined) ?? variable;
  });
}

/**
 * Returns a value as text. For a user, this is the name, otherwise the e-mail address or the id. Returns undefined for other
 * objects.
 */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isObject(value)) return undefined;
  const { name, email, userId } = value;
  return [name, email, userId].find((text) => typeof text === 'string');
}
