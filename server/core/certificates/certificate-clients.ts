// Who may use and see a client certificate of the service: the clients that it is given to, or everyone. What a client is
// not given does not exist for it: it is in no list, cannot be chosen, and is not shown to its receivers.

/** Of a list that is given at once. */
export const CERTIFICATE_CLIENTS_MAX = 1_000
export const EVERYONE = 'everyone'

/** By the keys of clients. A new certificate is for none of them. */
export type CertificateClients = typeof EVERYONE | readonly number[]

export function isFor(clients: CertificateClients, clientKey: number): boolean {
  return clients === EVERYONE || clients.includes(clientKey)
}

export function isForNone(clients: CertificateClients): boolean {
  return clients.length === 0
}
