// One act on the certificates, in a dialog: a new one, what was signed, who may use it, and how endpoints follow, with a count
// first.

import { type ReactNode, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { FollowingEndpoints } from '../../api/types.ts'
import { Problem } from '../../ui/basics/messages.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { Area, Field, Select } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { type Clients, ClientsField, clientsText } from './clients-field.tsx'
import { type Certificate, PATH } from './use-certificates.ts'

export type Act =
  | { kind: 'request' | 'import' }
  | { kind: 'complete' | 'clients' | 'default' | 'replace' | 'delete'; of: Certificate }

interface Props {
  all: readonly Certificate[]
  onClose(): void
}

/** One that is signed can be shown in place of another. */
export function canReplace(one: Certificate, other: Certificate): boolean {
  return one.id !== other.id && one.certificatePem !== null
}

export function CertificateAct({ act, all, onClose }: Props & { act: Act }) {
  if (!('of' in act)) {
    return <NewCertificate isImport={act.kind === 'import'} onClose={onClose} />
  }
  if (act.kind === 'complete') return <Complete of={act.of} onClose={onClose} />
  if (act.kind === 'clients') return <ChangeClients of={act.of} onClose={onClose} />
  if (act.kind === 'default') return <MakeDefault of={act.of} onClose={onClose} />
  if (act.kind === 'replace') return <Replace of={act.of} all={all} onClose={onClose} />
  return <Delete of={act.of} onClose={onClose} />
}

function useDone(onClose: () => void): (text: string) => void {
  const refresh = useRefresh()
  const toast = useToast()
  return (text) => {
    refresh(PATH)
    toast(text)
    onClose()
  }
}

function NewCertificate({ isImport, onClose }: { isImport: boolean; onClose(): void }) {
  const done = useDone(onClose)
  const [clients, setClients] = useState<Clients>([])
  const make = useAction((body: object) => api.post(PATH, body), {
    onDone: () => done(isImport ? 'Imported.' : 'Made. Copy its request, and have it signed.'),
  })
  const names = isImport ? ['name', 'certificatePem', 'privateKeyPem'] : ['name', 'subject']
  return (
    <FormDialog
      title={isImport ? 'Import a certificate' : 'Ask for a certificate'}
      action={isImport ? 'Import' : 'Make the request'}
      sending={make}
      onSubmit={(form) =>
        make.mutate({
          ...Object.fromEntries(names.map((name) => [name, String(form.get(name)).trim()])),
          clients,
        })
      }
      onClose={onClose}
    >
      <Field name="name" label="Name" placeholder="pix-2027" maxLength={100} required />
      {isImport ? (
        <>
          <Area
            name="certificatePem"
            label="Certificate and those that signed it, as PEM"
            required
          />
          <Area
            name="privateKeyPem"
            label="Private key, as PEM"
            hint="Without a passphrase. It is encrypted and never shown again."
            autoComplete="off"
            required
          />
        </>
      ) : (
        <Field
          name="subject"
          label="Subject"
          hint="The private key is made here and never leaves Paybell."
          placeholder="CN=paybell.example.com, O=Example Ltd, C=BR"
          required
        />
      )}
      <ClientsField value={clients} onChange={setClients} />
    </FormDialog>
  )
}

function Complete({ of, onClose }: { of: Certificate; onClose(): void }) {
  const done = useDone(onClose)
  const complete = useAction(
    (certificatePem: string) => api.put(`${PATH}/${of.id}/certificate`, { certificatePem }),
    { onDone: () => done(`${of.name} is shown within 5 seconds.`) },
  )
  return (
    <FormDialog
      title={`What was signed for ${of.name}`}
      action="Save"
      sending={complete}
      onSubmit={(form) => complete.mutate(String(form.get('certificatePem')))}
      onClose={onClose}
    >
      <Area name="certificatePem" label="Certificate and those that signed it, as PEM" required />
    </FormDialog>
  )
}

/** The list takes the place of the one before. */
function ChangeClients({ of, onClose }: { of: Certificate; onClose(): void }) {
  const done = useDone(onClose)
  const [clients, setClients] = useState<Clients>(of.clients ?? [])
  const change = useAction(() => api.patch(`${PATH}/${of.id}`, { clients }), {
    onDone: () => done(`${of.name} is for ${clientsText(clients)}.`),
  })
  return (
    <FormDialog
      title={`Who may use ${of.name}`}
      action="Save"
      sending={change}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <ClientsField value={clients} onChange={setClients} />
    </FormDialog>
  )
}

function MakeDefault({ of, onClose }: { of: Certificate; onClose(): void }) {
  return (
    <Follow
      title={`Make ${of.name} the default?`}
      action="Make it the default"
      path={`${PATH}/${of.id}/default`}
      said={`${of.name} is the default.`}
      explain={(endpoints) =>
        `Endpoints that ask for the default: ${endpoints}. Their receivers are shown ${of.name} within 5 seconds, and have to trust it first.`
      }
      onClose={onClose}
    />
  )
}

/** Those that ask for the default do not name it: they follow the default. */
function Replace({ of, all, onClose }: Props & { of: Certificate }) {
  const others = all.filter((one) => canReplace(one, of))
  const [by, setBy] = useState(others[0]?.id ?? '')
  const other = others.find(({ id }) => id === by)
  return (
    <Follow
      title={`Replace ${of.name}`}
      action="Replace"
      path={`${PATH}/${of.id}/replace`}
      by={by}
      said={`Replaced by ${other?.name}.`}
      explain={(endpoints) =>
        endpoints > 0
          ? `Endpoints that name ${of.name}: ${endpoints}. Their receivers are shown ${other?.name} within 5 seconds, and have to trust it first.`
          : `No endpoint names ${of.name}. Endpoints that ask for the default follow when another one is made the default.`
      }
      isForSome
      onClose={onClose}
    >
      <Select
        label="By"
        value={by}
        onChange={(event) => setBy(event.target.value)}
        options={others.map(({ id, name }) => [id, name] as const)}
      />
    </Follow>
  )
}

/** Asks after it has counted which endpoints would follow, and not before. */
function Follow({
  title,
  action,
  path,
  by,
  said,
  explain,
  isForSome = false,
  onClose,
  children,
}: {
  title: string
  action: string
  path: string
  /** The certificate that they follow to, where it is not that of the path. */
  by?: string
  /** When it is done. */
  said: string
  explain(endpoints: number): string
  /** There is nothing to do where none follows. */
  isForSome?: boolean
  onClose(): void
  children?: ReactNode
}) {
  const done = useDone(onClose)
  const follow = (isDryRun: boolean, to: string | undefined) =>
    api.post<FollowingEndpoints>(path, { ...(to ? { by: to } : {}), dryRun: isDryRun })
  const count = useAction((to: string | undefined) => follow(true, to))
  const act = useAction(() => follow(false, by), {
    onDone: ({ endpoints }) => done(`${said} Endpoints that follow: ${endpoints}.`),
  })
  const { mutate } = count
  useEffect(() => mutate(by), [mutate, by])
  const endpoints = count.data?.endpoints
  const problem = act.error ?? count.error
  return (
    <Confirm
      title={title}
      action={action}
      isBusy={act.isPending}
      isReady={endpoints !== undefined && (endpoints > 0 || !isForSome)}
      onConfirm={() => act.mutate(undefined)}
      onClose={onClose}
    >
      {children}
      <p role="status">{endpoints === undefined ? 'Counting…' : explain(endpoints)}</p>
      {problem ? <Problem problem={problem} /> : null}
    </Confirm>
  )
}

function Delete({ of, onClose }: { of: Certificate; onClose(): void }) {
  const done = useDone(onClose)
  const toast = useToast()
  const act = useAction<void, unknown>(() => api.delete(`${PATH}/${of.id}`), {
    onDone: () => done(`Deleted ${of.name}.`),
    onError: (problem) => toast(problem.message, 'bad'),
  })
  return (
    <Confirm
      title={`Delete ${of.name}?`}
      action="Delete the certificate"
      isDanger
      isBusy={act.isPending}
      onConfirm={() => act.mutate(undefined)}
      onClose={onClose}
    >
      <p>Its private key goes with it and cannot be restored.</p>
    </Confirm>
  )
}
