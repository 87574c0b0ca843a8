// The user that this browser acts as: a link that signs in, an identity provider, a token that is pasted, and the way
// out.
import { html, nothing } from '/console/lit-html.js';
import { call, renewal, token } from '/console/feed.js';

const LINK = /^#sign-in=([\w-]+)$/;

/** The values that this tab needs when the identity provider has sent it back. */
const PENDING = 'rollkeeper-sign-in';
const SIGNED_IN_PATH = '/console/signed-in';
const RENEW_BEFORE_MS = 60_000;

/** Learns how people can sign in here. */
export async function learnWays({ set }) {
  const ways = await call('GET', '/console/sign-in-ways').catch(() => ({}));
  set({ ways });
}

/**
 * Takes in what the identity provider has answered, if it has sent this tab back. The answer is taken out of the address
 * first. Returns the view to go on with.
 */
export async function signInByProvider(page) {
  if (location.pathname !== SIGNED_IN_PATH) return undefined;
  const answer = location.search.slice(1);
  const pending = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  history.replaceState(undefined, '', '/console');
  if (!pending || answer === '') {
    page.set({ notSignedIn: 'this tab has not started a sign-in' });
    return undefined;
  }
  try {
    const { returnTo, ...session } = await call('POST', '/admin/sign-in/oidc/exchange', { pending, answer });
    keep(session);
    const problem = await learnWho(page);
    if (problem) page.set({ notSignedIn: problem });
    else page.announce(`Signed in: ${page.state.who}`);
    return returnTo;
  } catch (error) {
    page.set({ notSignedIn: error.message });
    return undefined;
  }
}

function keep({ ends, renewal: sealed, session }) {
  token.set(session);
  renewal.set(sealed && { renewal: sealed, ends });
}

/** Exchanges the code of a link for a session. The code is taken out of the address first. */
export async function signInByLink(page) {
  const code = LINK.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(undefined, '', location.pathname + location.search);
  token.set('');
  renewal.set(undefined);
  try {
    const { session } = await call('POST', '/admin/sign-in/exchange', { code });
    token.set(session);
    await learnWho(page);
    page.announce(`Signed in: ${page.state.who}`);
  } catch (error) {
    page.set({ notSignedIn: error.message });
  }
}

/**
 * Learns the name that acts carry, if the cluster knows it by the token. Returns why the token is no good, if it is
 * none.
 */
export async function learnWho({ set }) {
  if (token.get() === '') return set({ caller: undefined, who: undefined });
  try {
    const { user } = await call('GET', '/admin/objects/caller');
    set({ caller: user, who: user ?? 'admin token' });
  } catch (error) {
    set({ caller: undefined, who: undefined });
    // A wrong one would be refused even where anyone may read.
    if (error.status === 401) token.set('');
    return error.status === 401 || error.status === 403 ? error.message : undefined;
  }
}

/** The user, with the way out; or the way in, which is an identity provider if there is one. */
export function whoFact({ who, ways }, actions) {
  if (!who)
    return html`<span class="fact way-in"
      ><button id="sign-in" @click=${() => (ways?.oidc ? actions.signIn() : actions.askToken())}>
        Sign in
      </button></span
    >`;
  return html`<span class="fact who"
    ><span>${who}</span><button class="plain" @click=${() => actions.signOut()}>Sign out</button></span
  >`;
}

/** A link that was no good any more. */
export function signInNotice({ notSignedIn }, actions) {
  if (!notSignedIn) return nothing;
  return html`<p class="lost" role="alert">
    Not signed in: ${notSignedIn}
    <button class="plain" @click=${() => actions.set({ notSignedIn: undefined })}>Close</button>
  </p>`;
}

/** Shown when the server requires a token: for a change, or from another machine. */
export function tokenDialog(state, actions) {
  if (!state.asksToken) return nothing;
  return html`<div class="veil">
    <section
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="token-title"
      @keydown=${(event) => actions.dialogKeys(event, () => actions.giveToken(undefined))}
    >
      <form
        @submit=${(event) => {
          event.preventDefault();
          actions.giveToken(new FormData(event.target).get('token'));
        }}
      >
        <h2 id="token-title">Sign in</h2>
        ${
          state.ways?.oidc
            ? html`<p>
                <button type="button" id="sign-in-here" @click=${() => actions.signIn()}>
                  Sign in with ${new URL(state.ways.oidc.issuerUrl).host}
                </button>
              </p>`
            : nothing
        }
        <dl class="sign-in-ways">
          <dt>With a link</dt>
          <dd>
            This command prints a link that signs this browser in:
            <code class="command">rollkeeper console --admin-url ${location.origin}</code>
            It needs the admin token, or a kubeconfig. Beside <code>rollkeeper up</code> it finds the token.
          </dd>
          <dt>With a token</dt>
          <dd>
            Enter the admin token. <code>rollkeeper up</code> stores it in the file
            <code>admin-token</code> in its data folder, and the chart in a Secret whose name ends in
            <code>-admin-token</code>:
            <code class="command"
              >kubectl -n NAMESPACE get secret NAME -o jsonpath='{.data.token}' | base64 -d</code
            >
            With <code>--admin-auth=delegated</code>, enter your own token of the cluster.
          </dd>
        </dl>
        <label>Token <input name="token" type="password" autocomplete="off" required autofocus /></label>
        ${state.tokenProblem ? html`<p class="error" role="alert">${state.tokenProblem}</p>` : nothing}
        <div class="buttons">
          <button type="submit">Sign in</button>
          <button type="button" class="plain" @click=${() => actions.giveToken(undefined)}>Cancel</button>
        </div>
      </form>
    </section>
  </div>`;
}

/** @param page see `page` in console.js */
export function sessionActions(page) {
  const { set, state } = page;
  let pending;
  let renewing = false;
  return {
    /** Asks for a token, and then does it again. */
    askToken(again) {
      pending = again;
      set({ asksToken: true });
      page.focusSoon('.dialog [name=token]');
    },
    async giveToken(secret) {
      const again = pending;
      pending = undefined;
      if (!secret) return set({ asksToken: false, tokenProblem: undefined });
      token.set(secret);
      renewal.set(undefined);
      const tokenProblem = await learnWho(page);
      set({ asksToken: tokenProblem !== undefined, tokenProblem });
      if (tokenProblem !== undefined) pending = again;
      else void again?.();
    },
    /** Goes to the identity provider, and comes back to this view. */
    async signIn() {
      try {
        const returnTo = location.search + location.hash;
        const { address, pending: sealed } = await call('POST', '/admin/sign-in/oidc', { returnTo });
        sessionStorage.setItem(PENDING, sealed);
        location.assign(address);
      } catch (error) {
        pending = undefined;
        set({ asksToken: false, notSignedIn: error.message });
      }
    },
    /** Asks for the next session shortly before this one ends. */
    async renewSession() {
      const known = renewal.get();
      if (!known || renewing || Date.parse(known.ends) - state.nowMs > RENEW_BEFORE_MS) return;
      renewing = true;
      try {
        keep(await call('POST', '/admin/sign-in/oidc/renew', { renewal: known.renewal }));
      } catch (error) {
        // Without an answer it is retried. A refused session ends by itself.
        if (error.status === 401) renewal.set(undefined);
      } finally {
        renewing = false;
      }
    },
    signOut() {
      const known = renewal.get();
      if (known) call('POST', '/admin/sign-in/oidc/end', { renewal: known.renewal }).catch(() => undefined);
      renewal.set(undefined);
      token.set('');
      set({ caller: undefined, who: undefined, problems: undefined, page: undefined });
      page.refresh();
      page.announce('Signed out');
    },
    /** The session ended by itself: reads go on as those of anyone here. */
    sessionEnded() {
      if (state.who) page.announce('The session has ended');
      set({ caller: undefined, who: undefined });
    },
  };
}
