import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { browserProgram } from './chromium.ts';

/** A page, and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** What the console says is an error, a violation of the page's policy among them; what was thrown; and what could not be loaded. */
  readonly problems: readonly string[];
  /** Every address that it asked for, those that it was refused too. */
  readonly asked: readonly string[];
}

/** How long a page gets for what a test waits for. */
const PATIENCE_MILLISECONDS = 20_000;

/** A real browser without a window. It reaches this machine and nothing else. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    const program = await browserProgram();
    // Names and addresses elsewhere lead nowhere, whoever in the browser asks for them. Not by intercepting requests: it answers the browser's questions about other origins with yes.
    return new TestBrowser(
      await chromium.launch({ ...program, args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] }),
    );
  }

  /** A new tab that shares nothing with others. */
  async open(options: BrowserContextOptions = {}): Promise<Tab> {
    // Without a locale it has that of the process, which on a server is none that JavaScript knows.
    const context = await this.#browser.newContext({ serviceWorkers: 'block', locale: 'en-US', ...options });
    context.setDefaultTimeout(PATIENCE_MILLISECONDS);
    const [problems, asked]: [string[], string[]] = [[], []];
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => asked.push(request.url()));
    page.on('requestfailed', (request) =>
      problems.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
    );
    return { page, problems, asked };
  }

  stop(): Promise<void> {
    return this.#browser.close();
  }
}
