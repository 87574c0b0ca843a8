export type { ServiceName } from './formats/channel.js';
export { smtpSender } from './mail-sender.js';
export { Notifications } from './notifications.js';
export type { NotificationResult } from './notifications.js';
