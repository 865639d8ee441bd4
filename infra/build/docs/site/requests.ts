import { headersOf } from './credentials.ts';

const names: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  workspaceId: 'Workspace',
  userToken: 'User token',
};

/** Adds buttons that open a form, which sends requests to this service. */
export function setUpRequests(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-try]')) {
    const button = makeButton('Try it');
    button.addEventListener('click', () => place.replaceChildren(...form(place.dataset)));
    place.append(button);
  }
}

function form({ try: path = '', levels = '', example = '' }: DOMStringMap): HTMLElement[] {
  const body = Object.assign(document.createElement('textarea'), {
    value: example,
    rows: Math.min(20, example.split('\n').length + 1),
    spellcheck: false,
    ariaLabel: `Body of the request to ${path}`,
  });
  const level = document.createElement('select');
  level.ariaLabel = 'Credentials';
  const choices = levels.split(' ').filter(Boolean);
  level.append(...choices.map((choice) => new Option(names[choice], choice)));
  const answer = document.createElement('div');
  answer.role = 'status';
  const send = makeButton('Send');
  send.addEventListener('click', () => {
    send.disabled = true;
    void sendRequest(path, choices.length === 0 ? undefined : level.value, body.value).then((shown) => {
      answer.replaceChildren(...shown);
      send.disabled = false;
    });
  });
  return [body, ...(choices.length > 1 ? [level] : []), send, answer];
}

async function sendRequest(path: string, level: string | undefined, body: string): Promise<HTMLElement[]> {
  const credentials = level === undefined ? {} : headersOf(level);
  if (!credentials)
    return [paragraph(`Enter the credentials of the level ${names[level ?? ''] ?? ''} with the button Authorize.`)];
  const startedAt = performance.now();
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials },
      body,
    });
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - startedAt);
    return [paragraph(`Status ${response.status}, ${milliseconds} ms`), block(indented(text))];
  } catch (error) {
    return [paragraph(`The request failed: ${String(error)}`)];
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function makeButton(textContent: string): HTMLButtonElement {
  return Object.assign(document.createElement('button'), { type: 'button' as const, textContent });
}

function paragraph(textContent: string): HTMLElement {
  return Object.assign(document.createElement('p'), { textContent });
}

function block(textContent: string): HTMLElement {
  return Object.assign(document.createElement('pre'), { textContent, tabIndex: 0 });
}
