import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type * as z from 'zod';
import { environment, openAll, type Uses } from '../app/capability.ts';
import { endpointId } from '../app/endpoint.ts';
import type { PageCall, PageOf } from '../app/page.ts';
import { invalid } from '../shared/errors.ts';
import { html } from '../shared/html.ts';
import { lazy } from '../shared/lazy.ts';
import { bodyText } from './envelope.ts';
import { htmlFailure, htmlResponse } from './htmlResponse.ts';
import { limitSources } from './sourceLimits.ts';
import { type Handler, stack } from './stack.ts';
import { validate } from './validate.ts';

const FORM_CHARACTERS = 64 * 1024;

/** Every answer is HTML, even for errors and unsupported methods. */
export function toPage<I extends z.ZodType, U extends Uses>(
  page: PageOf<I, U>,
  source: Record<string, string | undefined> = process.env,
): Handler {
  const env = lazy(() => environment(source));
  const deps = lazy(() => openAll(page.uses, env()));
  return stack(
    { endpoint: endpointId(page.path), path: page.path, serviceName: () => env().SERVICE_NAME },
    [limitSources()],
    async (event, state) => {
      const { method } = event.requestContext.http;
      if (!['GET', 'HEAD', 'POST'].includes(method)) return notAllowed();
      const fields = method === 'POST' && !page.oneClick ? formFields(event) : (event.queryStringParameters ?? {});
      const call: PageCall<z.output<I>, U> = {
        input: validate(page.input, fields) as z.output<I>,
        deps: deps(),
        now: state.startedAt,
        log: state.log,
      };
      const answer = htmlResponse(await (method === 'POST' ? page.submit(call) : page.show(call)));
      return method === 'HEAD' ? { ...answer, body: '' } : answer;
    },
    htmlFailure,
  );
}

function formFields(event: APIGatewayProxyEventV2): Record<string, string> {
  if ((event.body ?? '').length > FORM_CHARACTERS)
    throw invalid({ path: [], code: 'too_big', message: 'The form is too large' });
  return Object.fromEntries(new URLSearchParams(bodyText(event)));
}

function notAllowed() {
  return htmlResponse(
    {
      status: 405,
      title: 'This did not work',
      body: html`<p>This page can be opened, and its button can be pressed; nothing else.</p>`,
    },
    { allow: 'GET, HEAD, POST' },
  );
}
