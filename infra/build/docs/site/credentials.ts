const KEY = 'credentials';

/** By security scheme. */
type Credentials = Readonly<Record<string, string>>;

/** The name of a level is its first scheme. */
const schemesOf: Readonly<Record<string, readonly string[]>> = {
  apiKey: ['apiKey', 'authToken'],
  workspaceId: ['workspaceId', 'workspaceAuthToken'],
  userToken: ['userToken'],
};

const fields = () => [...document.querySelectorAll<HTMLInputElement>('[data-scheme]')];

export function setUpAuthorize(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#authorize');
  if (!dialog) return;
  const close = (values: Credentials) => {
    sessionStorage.setItem(KEY, JSON.stringify(values));
    dialog.close();
    showState();
  };
  document.querySelector('[data-authorize]')?.addEventListener('click', () => {
    const values = stored();
    for (const field of fields()) field.value = values[field.dataset.scheme ?? ''] ?? '';
    dialog.showModal();
  });
  dialog.querySelector('[data-apply]')?.addEventListener('click', () => {
    const entered = fields().map(({ dataset, value }) => [dataset.scheme ?? '', value.trim()] as const);
    close(Object.fromEntries(entered.filter(([, value]) => value !== '')));
  });
  dialog.querySelector('[data-remove]')?.addEventListener('click', () => close({}));
  showState();
}

/** Returns undefined if a credential of the level is missing. */
export function headersOf(level: string): Record<string, string> | undefined {
  const values = stored();
  const schemes = schemesOf[level] ?? [];
  if (schemes.some((scheme) => values[scheme] === undefined)) return undefined;
  return Object.fromEntries(
    fields()
      .filter(({ dataset }) => schemes.includes(dataset.scheme ?? ''))
      .map(({ dataset: { scheme = '', header = '' } }) => [
        header,
        scheme === 'userToken' ? `Bearer ${values[scheme] ?? ''}` : (values[scheme] ?? ''),
      ]),
  );
}

function stored(): Credentials {
  return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Credentials;
}

function showState(): void {
  const names = { apiKey: 'API key', workspaceId: 'workspace', userToken: 'user' };
  const entered = Object.entries(names).filter(([level]) => headersOf(level) !== undefined);
  const status = document.querySelector('[data-authorized]');
  if (status)
    status.textContent = entered.length === 0 ? '' : `Credentials: ${entered.map(([, name]) => name).join(', ')}`;
}
