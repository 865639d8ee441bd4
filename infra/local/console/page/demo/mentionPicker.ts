import type { DemoUser } from '../../demoDocument.ts';
import { element } from '../dom.ts';

let count = 0;

/**
 * Lets the user pick whom to mention after typing `@` in a text field. Call this before adding other listeners of the
 * field's keys: they do not get the keys that pick a user.
 */
export function addMentionPicker(input: HTMLTextAreaElement, users: readonly DemoUser[]): void {
  const id = `mention-picker-${++count}`;
  const list = element('ul', { id, role: 'listbox', 'aria-label': 'Users to mention', class: 'picker' });
  list.hidden = true;
  input.after(list);
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', id);
  let matches: readonly DemoUser[] = [];
  let chosen = 0;

  const show = (found: readonly DemoUser[]) => {
    matches = found;
    chosen = 0;
    list.replaceChildren(
      ...matches.map(({ userId, name }, index) => {
        const option = element('li', { id: `${id}-${index}`, role: 'option' }, `${name} @${userId}`);
        // At `click`, the field would already have lost the focus, and the list would be hidden.
        option.addEventListener('pointerdown', (event) => {
          event.preventDefault();
          insert(userId);
        });
        return option;
      }),
    );
    list.hidden = matches.length === 0;
    choose(0);
  };
  const choose = (index: number) => {
    chosen = (index + matches.length) % Math.max(1, matches.length);
    for (const [at, option] of [...list.children].entries()) option.ariaSelected = String(at === chosen);
    if (list.hidden) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `${id}-${chosen}`);
  };
  const insert = (userId: string) => {
    const before = typedBefore(input).length;
    input.setRangeText(`@${userId} `, input.selectionStart - before, input.selectionStart, 'end');
    show([]);
  };

  input.addEventListener('input', () => {
    const typed = typedBefore(input).slice(1).toLowerCase();
    const isOpen = typedBefore(input) !== '' && !users.some(({ userId }) => userId === typed);
    show(isOpen ? users.filter((user) => startsWith(user, typed)) : []);
  });
  input.addEventListener('blur', () => show([]));
  input.addEventListener('keydown', (event) => {
    const user = matches[chosen];
    if (!user || event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    else if (event.key === 'Enter' || event.key === 'Tab') insert(user.userId);
    else if (event.key === 'Escape') show([]);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
}

/** Returns the unfinished mention before the cursor, such as `@ad`, or an empty text. */
function typedBefore(input: HTMLTextAreaElement): string {
  return /(?:^|\s)(@\w*)$/.exec(input.value.slice(0, input.selectionStart))?.[1] ?? '';
}

function startsWith({ userId, name }: DemoUser, typed: string): boolean {
  return [userId, ...name.toLowerCase().split(' ')].some((word) => word.startsWith(typed));
}
