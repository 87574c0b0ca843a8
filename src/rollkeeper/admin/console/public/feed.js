// The live feed: server-sent events over fetch, because EventSource cannot send a token.

const TOKEN = 'rollkeeper-token';

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? '',
  set: (value) => sessionStorage.setItem(TOKEN, value),
};

const RENEWAL = 'rollkeeper-renewal';

/**
 * The token that renews a session, and the end of the session: `{renewal, ends}`. Kept for this tab alone, like the
 * session.
 */
export const renewal = {
  get: () => JSON.parse(sessionStorage.getItem(RENEWAL) ?? 'null'),
  set: (value) => sessionStorage.setItem(RENEWAL, JSON.stringify(value ?? null)),
};

const SESSION = /^rkc1\./;
let onSessionEnd = () => undefined;

/** Sets the reaction to the end of this browser's session. */
export function whenSessionEnds(does) {
  onSessionEnd = does;
}

/** An ended session would be refused even where anyone may read. */
function noteRefusal(status) {
  if (status !== 401 || !SESSION.test(token.get())) return;
  token.set('');
  renewal.set(undefined);
  onSessionEnd();
}

function headers(more = {}) {
  const secret = token.get();
  return secret === '' ? more : { ...more, Authorization: `Bearer ${secret}` };
}

/** Returns the parsed body; throws an Error with `status` and the server's message. */
export async function call(method, path, body, more = {}) {
  const response = await fetch(path, {
    method,
    headers: headers({ ...more, ...(body && { 'Content-Type': 'application/json' }) }),
    body: body && JSON.stringify(body),
  });
  const answer = await parsed(response).catch(() => ({}));
  if (response.ok) return answer;
  noteRefusal(response.status);
  throw Object.assign(new Error(answer.error ?? answer.message ?? response.statusText), {
    status: response.status,
  });
}

/** Revisions are int64, which `JSON.parse` alone rounds. Browsers without source text access still round them. */
async function parsed(response) {
  return JSON.parse(await response.text(), (_name, value, context) => {
    const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !context?.source;
    return !isExact && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  });
}

const FIRST_RETRY_MS = 300;
const LONGEST_RETRY_MS = 4000;
/** The feed sends twice a second: a longer silence means a dead connection, even if TCP considers it open. */
const SILENCE_MS = 6000;
/** On a machine that is too busy to answer it may be alive: then it gets more time, or the list would never be read to its end. */
const LONGEST_SILENCE_MS = 48_000;

/** Follows the feed forever; `on` gets each event, and our own `connection` events. */
export async function follow(on) {
  let silences = 0;
  const take = (event) => {
    if (event.type === 'listed') silences = 0;
    on(event);
  };
  for (let failures = 0; ; failures++) {
    const silence = new AbortController();
    const patienceMs = Math.min(SILENCE_MS * 2 ** silences, LONGEST_SILENCE_MS);
    try {
      const response = await fetch('/admin/events', { headers: headers(), signal: silence.signal });
      if (!response.ok) {
        noteRefusal(response.status);
        throw Object.assign(new Error(response.statusText), { status: response.status });
      }
      failures = 0;
      on({ type: 'connection', connected: true });
      const gaveWay = await read(response.body, take, silence, patienceMs);
      on({ type: 'connection', connected: false, failures, gaveWay });
      // An automatic reconnect would evict the page that evicted this one.
      if (gaveWay) await lookedAt();
    } catch (error) {
      if (silence.signal.aborted) silences++;
      on({
        type: 'connection',
        connected: false,
        failures,
        refused: error.status === 401 || error.status === 403,
      });
    }
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)),
    );
  }
}

/**
 * Reads one stream of events to its end, or until aborted.
 * @throws Error with `status` if it is refused
 */
export async function readStream(path, on, control) {
  const response = await fetch(path, { headers: headers(), signal: control.signal });
  if (!response.ok) {
    noteRefusal(response.status);
    const { error } = await response.json().catch(() => ({}));
    throw Object.assign(new Error(error ?? response.statusText), { status: response.status });
  }
  await read(response.body, on, control);
}

/** Resolves when the page becomes visible. */
async function lookedAt() {
  await new Promise((resolve) => {
    addEventListener('focus', resolve, { once: true });
    addEventListener('pointerdown', resolve, { once: true });
  });
}

/** Resolves when the stream ends; returns whether another page evicted it. */
async function read(body, on, silence, patienceMs = SILENCE_MS) {
  let gaveWay = false;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let watchdog;
  try {
    for (;;) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silence.abort(), patienceMs);
      const { done, value } = await reader.read();
      if (done) return gaveWay;
      text += value;
      const messages = text.split('\n\n');
      text = messages.pop();
      for (const message of messages) {
        const data = message.split('\n').find((line) => line.startsWith('data: '));
        if (!data) continue;
        const event = JSON.parse(data.slice('data: '.length));
        if (event.type === 'gave-way') gaveWay = true;
        else on(event);
      }
    }
  } finally {
    clearTimeout(watchdog);
  }
}
