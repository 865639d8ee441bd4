/** Returns the element with this id. Throws if the page has none. */
export function byId(id: string): HTMLElement {
  const elementWithId = document.getElementById(id);
  if (!elementWithId) throw new Error(`The page has no element #${id}`);
  return elementWithId;
}

/** Creates an element with attributes and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const newElement = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) newElement.setAttribute(attribute, value);
  newElement.append(...children);
  return newElement;
}

/**
 * Sets the text of an element if the text differs. Setting the same text again would make screen readers announce it, and
 * browsers repeat the layout.
 */
export function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Replaces the children of an element if they are other elements or in another order. */
export function setChildren(of: HTMLElement, children: readonly HTMLElement[]): void {
  if (of.children.length !== children.length || children.some((child, index) => of.children[index] !== child))
    of.replaceChildren(...children);
}
