import { demoUsers } from '../../demoDocument.ts';
import { byId, element } from '../dom.ts';

interface PresentUser {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly status: string;
}

const OTHER_COLOUR = '#57606a';

export function showPeople(users: readonly PresentUser[]): void {
  byId('people').replaceChildren(
    ...users.map(({ userId, name = userId, status }) => {
      const avatar = element('span', { class: 'avatar', 'aria-hidden': 'true' }, initialsOf(name));
      avatar.style.background = demoUsers.find((user) => user.userId === userId)?.colour ?? OTHER_COLOUR;
      const label = status === 'away' ? `${name}, away` : name;
      return element(
        'li',
        { class: status },
        element('span', { role: 'img', 'aria-label': label, title: label }, avatar),
      );
    }),
  );
}

/** One link for each demo user, which opens the page as that user. `userId` is the current user. */
export function showUserLinks(userId: string | undefined): void {
  byId('users').replaceChildren(
    ...demoUsers.map((user) =>
      element(
        'a',
        { href: `?user=${user.userId}`, ...(user.userId === userId && { 'aria-current': 'page' }) },
        user.name,
      ),
    ),
  );
}

function initialsOf(name: string): string {
  return name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
}
