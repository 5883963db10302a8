import { Button } from '../../ui/basics/button.tsx'
import { toBytesText } from '../../ui/lists/numbers.ts'
import type { DocumentFacts } from './body.ts'

/** A document is a file with a name and a size, never a screen of base64. */
export function DocumentFile({
  document,
  onDownload,
}: {
  document: DocumentFacts
  onDownload(): void
}) {
  return (
    <div className="document">
      <div className="break">
        <strong>{document.name}</strong>
        <div className="muted">
          {document.mediaType}, {toBytesText(document.fileBytes)}
        </div>
      </div>
      <Button isSmall onClick={onDownload} aria-label={`Download ${document.name}`}>
        Download
      </Button>
    </div>
  )
}
