// Notices of the browser about rollouts that got stuck: only if a person asked for them.
import { nameOf } from '/console/parts.js';

const WANTED = 'rollkeeper-notices';
/** Absent where the browser has none, or the page is not served securely. */
const { Notification } = globalThis;

/**
 * `on`, `off`, or `refused` by the browser. To read `permission` the page waits for another process of the browser, so this is not for
 * each change of each rollout.
 */
export function noticesNow() {
  if (!Notification || Notification.permission === 'denied') return 'refused';
  return isWanted() && Notification.permission === 'granted' ? 'on' : 'off';
}

const isWanted = () => localStorage.getItem(WANTED) === 'on';

/** Tells of a rollout that was not stuck before, and is now. @param before its former summary */
export function noticeOf(before, item, openRollout) {
  if (item.state !== 'blocked' || !before || before.state === 'blocked') return;
  if (!isWanted() || noticesNow() !== 'on') return;
  const key = nameOf(item).join('/');
  // One for each rollout: a later notice takes the place of the one before.
  const notice = new Notification(`${key} is stuck`, { body: item.sentence, tag: `rollkeeper ${item.key}` });
  notice.onclick = () => {
    globalThis.focus();
    openRollout(item.key);
    notice.close();
  };
}

/** @param page see `page` in console.js */
export function noticeActions({ announce, set }) {
  return {
    async toggleNotices() {
      if (noticesNow() === 'on') {
        localStorage.removeItem(WANTED);
        announce('Notifications are off');
      } else if (Notification && (await Notification.requestPermission()) === 'granted') {
        localStorage.setItem(WANTED, 'on');
        announce('You are notified when a rollout gets stuck');
      }
      set({ notices: noticesNow() });
    },
  };
}
