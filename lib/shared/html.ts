class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Only the function `html` makes this type, so all values in it are escaped. */
export type Html = Markup;

type Value = string | number | Html | readonly Html[];

/** Escapes values, also for quoted attributes. Inserts pieces of HTML unchanged. */
export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Markup(literals.reduce((text, literal, index) => text + markupOf(values[index - 1] ?? '') + literal));
}

function markupOf(value: Value): string {
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
