// The acts of a person on an object: a button, a question, and the API's own answer.
import { html, nothing } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { kindOf, nameOf } from '/console/parts.js';

/** The acts on objects besides Deployments, by the word of their kind. */
export const ACTS_OF = {
  statefulsets: ['scale', 'set-image', 'restart'],
  daemonsets: ['set-image', 'restart'],
  pods: ['evict'],
};

const WORDS = {
  scale: ['Scale', 'changes the number of its pods.', 'Scale'],
  'set-image': ['Set image', 'rolls out another image.', 'Set image'],
  restart: ['Restart', 'replaces all its pods in a rollout.', 'Restart'],
  pause: ['Pause', 'stops the rollout of changes to its template.', 'Pause'],
  resume: ['Resume', 'rolls out the changes made in the meantime.', 'Resume'],
  evict: [
    'Evict',
    'evicts this pod if its PodDisruptionBudget allows it; its owner creates another one.',
    'Evict',
  ],
  cordon: ['Cordon', 'keeps new pods off this node.', 'Cordon'],
  uncordon: ['Uncordon', 'allows new pods on this node again.', 'Uncordon'],
  drain: [
    'Drain',
    'keeps new pods off this node and evicts its pods; pods that a budget protects stay.',
    'Drain',
  ],
};

/** The word of a button. */
export const actWord = (verb) => WORDS[verb][0];

/** Whether there is such an act. */
export const isAct = (verb) => Object.hasOwn(WORDS, verb);

/** The buttons for an object. @param path `deployments/NAMESPACE/NAME`, or `nodes/NAME` */
export function actButtons(path, verbs, actions) {
  return html`<span class="acts" role="group" aria-label="Actions">
    ${verbs.map(
      (verb) =>
        html`<button class="plain" @click=${() => actions.askAct({ path, verb })}>${WORDS[verb][0]}</button>`,
    )}
  </span>`;
}

/** A rollout as a path of the admin API. */
export function pathOfRollout(item) {
  const kind = kindOf(item);
  if (kind !== undefined) return `${kind.toLowerCase()}s/${nameOf(item).join('/')}`;
  const isCustom = item.key.includes('api=rollkeeper.dev');
  return `deployments${isCustom ? '.rollkeeper.dev' : ''}/${nameOf(item).join('/')}`;
}

/** The buttons of the acts on a Deployment. */
export function rolloutActs(item, actions) {
  const path = pathOfRollout(item);
  const kind = kindOf(item);
  if (kind !== undefined) return actButtons(path, ACTS_OF[`${kind.toLowerCase()}s`], actions);
  const isPaused = item.state === 'paused';
  return actButtons(path, ['scale', 'set-image', 'restart', isPaused ? 'resume' : 'pause'], actions);
}

/** The current values of a rollout, for the fields of a question. */
function fieldsNow(path, deployments) {
  const item = [...deployments.values()].find((each) => pathOfRollout(each) === path);
  const set = item?.sets.find(({ role }) => role === 'new') ?? item?.sets[0];
  return { replicas: item?.limits?.replicas, image: set?.images?.[0] };
}

/** Asks once more, for the values, and for who asks where the cluster does not know. */
export function actDialog({ acting, caller, deployments }, actions) {
  if (!acting) return nothing;
  const { changes, path, problem, said, verb } = acting;
  const { image, replicas } = acting.fields ?? fieldsNow(path, deployments);
  const [title, does, button] = WORDS[verb];
  const object = path.slice(path.indexOf('/') + 1);
  const close = () => actions.askAct(undefined);
  if (said !== undefined)
    return html`<div class="veil">
      <section
        class="dialog"
        role="dialog"
        aria-modal="true"
        aria-labelledby="act-title"
        @keydown=${(event) => actions.dialogKeys(event, close)}
      >
        <h2 id="act-title">${title}: done</h2>
        <p role="status"><b>${object}</b>: ${said}</p>
        <div class="buttons"><button id="close-act" @click=${close}>Close</button></div>
      </section>
    </div>`;
  return html`<div class="veil">
    <section
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="act-title"
      @keydown=${(event) => actions.dialogKeys(event, close)}
    >
      <form
        @submit=${(event) => {
          event.preventDefault();
          void actions.act(new FormData(event.target));
        }}
      >
        <h2 id="act-title">${title}</h2>
        <p><b>${object}</b>: ${does}</p>
        ${
          verb === 'scale'
            ? html`<label
                >Pods
                <input
                  name="replicas"
                  type="number"
                  min="0"
                  step="1"
                  required
                  .value=${String(replicas ?? '')}
                  autofocus
              /></label>`
            : nothing
        }
        ${
          verb === 'set-image'
            ? html`<label
                  >Image
                  <input
                    name="image"
                    required
                    maxlength="1000"
                    autocomplete="off"
                    .value=${image ?? ''}
                    autofocus
                /></label>
                <label
                  >Container, if there are several <input name="container" maxlength="63" autocomplete="off"
                /></label>`
            : nothing
        }
        ${verb === 'drain' ? leaving(changes) : nothing}
        ${
          caller
            ? html`<p class="quiet">As ${caller}, with your own rights.</p>`
            : html`<label
                >Your name
                <input name="by" maxlength="100" required autocomplete="name" .value=${actions.personName()}
              /></label>`
        }
        <label>Reason <input name="reason" maxlength="300" autocomplete="off" /></label>
        ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
        <div class="buttons">
          <button type="submit">${button}</button>
          <button type="button" class="plain" @click=${close}>Cancel</button>
        </div>
      </form>
    </section>
  </div>`;
}

const PODS_NAMED = 12;

function leaving(changes) {
  if (changes === undefined) return html`<p class="quiet">Reading its pods …</p>`;
  const pods = changes.filter(({ field }) => field === 'pod');
  if (pods.length === 0) return html`<p class="quiet">No pod has to be evicted.</p>`;
  return html`<ul class="changes">
    ${pods.slice(0, PODS_NAMED).map(({ from }) => html`<li>${from}</li>`)}
    ${pods.length > PODS_NAMED ? html`<li>and ${pods.length - PODS_NAMED} more</li>` : nothing}
  </ul>`;
}

/** The actions of the dialog. @param page see `page` in console.js */
export function actActions({ announce, close, focusSoon, learnWho, open, refresh, set, state, withToken }) {
  const lookBeforeDrain = async (acting) => {
    const path = `/admin/objects/${acting.path}/drain?dryRun=true`;
    try {
      const { changes } = await call('POST', path, state.caller ? {} : { by: 'looks first' });
      if (state.acting === acting) set({ acting: { ...acting, changes } });
    } catch (error) {
      if (error.status === 401) withToken(() => lookBeforeDrain(acting));
      else if (state.acting === acting) set({ acting: { ...acting, changes: [], problem: error.message } });
    }
  };

  const act = async (form) => {
    const { acting } = state;
    if (!acting) return;
    const { path, verb } = acting;
    try {
      const { notes, said } = await call(
        'POST',
        `/admin/objects/${path}/${verb}`,
        bodyOf(verb, form, state.caller),
      );
      set({ acting: { ...acting, said: [said, ...notes].join('; ') } });
      focusSoon('#close-act');
      announce(`${path}: ${said}`);
      refresh();
    } catch (error) {
      if (error.status === 401) withToken(() => act(form));
      else set({ acting: { ...acting, problem: error.message } });
    }
  };

  return {
    act,
    /** Opens the question about an act, or closes it. */
    askAct(acting) {
      if (!acting) return close({ acting: undefined, ask: undefined });
      // As they are now: they must not change while a person types.
      const fields = fieldsNow(acting.path, state.deployments);
      const isKnown = fields.replicas !== undefined;
      open({ acting: isKnown ? { ...acting, fields } : acting, ask: `${acting.verb}:${acting.path}` });
      focusSoon('.dialog [autofocus], .dialog [name=by], .dialog button');
      void learnWho();
      if (acting.verb === 'drain') void lookBeforeDrain(state.acting);
    },
  };
}

/** @param caller whom the cluster knows by the token, and who needs no name */
function bodyOf(verb, form, caller) {
  const [by, reason, container] = ['by', 'reason', 'container'].map((name) => form.get(name) ?? '');
  if (by !== '') localStorage.setItem('rollkeeper-person', by);
  return {
    ...(by !== '' && !caller && { by }),
    ...(reason !== '' && { reason }),
    ...(verb === 'scale' && { replicas: Number(form.get('replicas')) }),
    ...(verb === 'set-image' && { image: form.get('image') }),
    ...(container !== '' && { container }),
  };
}
