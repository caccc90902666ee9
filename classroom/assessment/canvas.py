"""Write a form of the quiz as a zip of QTI 1.2, which Canvas imports as a quiz.

Element for element it is what text2qti 0.8, which was tried on Canvas, makes of it.
"""

import io
import zipfile
from xml.etree import ElementTree as ET

from classroom.assessment.forms import Form, Question
from classroom.assessment.text import html

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
CANVAS = "http://canvas.instructure.com/xsd/cccv1p0"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
META = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
SAME_DATE = (1980, 1, 1, 0, 0, 0)  # so that the zip depends on its questions alone
RESPONSE = "response1"


def canvas_zip(form: Form) -> bytes:
    """Return a zip with the quiz, its settings, and the list of both."""
    name = f"quiz_{form.name.lower()}"
    quiz, settings = f"{name}/{name}.xml", f"{name}/assessment_meta.xml"
    files = {
        "imsmanifest.xml": _manifest(name, quiz, settings),
        quiz: _assessment(name, form),
        settings: _settings(name, form),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, element in files.items():
            ET.indent(element)
            data = ET.tostring(element, encoding="utf-8", xml_declaration=True)
            entry = zipfile.ZipInfo(path, SAME_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return buffer.getvalue()


def title(form: Form) -> str:
    return f"Vision Transformer, form {form.name}"


def _manifest(name: str, quiz: str, settings: str) -> ET.Element:
    manifest = ET.Element("manifest", identifier=f"{name}_manifest", xmlns=PACKAGE)
    metadata = ET.SubElement(manifest, "metadata")
    ET.SubElement(metadata, "schema").text = "IMS Content"
    ET.SubElement(metadata, "schemaversion").text = "1.1.3"
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    resource = ET.SubElement(
        resources, "resource", identifier=name, type="imsqti_xmlv1p2"
    )
    ET.SubElement(resource, "file", href=quiz)
    ET.SubElement(resource, "dependency", identifierref=f"{name}_meta")
    resource = ET.SubElement(
        resources, "resource", identifier=f"{name}_meta", type=META, href=settings
    )
    ET.SubElement(resource, "file", href=settings)
    return manifest


def _settings(name: str, form: Form) -> ET.Element:
    quiz = ET.Element("quiz", identifier=name, xmlns=CANVAS)
    for field, value in {
        "title": title(form),
        "description": "",
        "shuffle_answers": "true",
        "scoring_policy": "keep_highest",
        "quiz_type": "assignment",
        "points_possible": f"{len(form.questions)}.0",
        "show_correct_answers": "false",  # or one class would know them before the next
        "allowed_attempts": "1",
        "available": "false",
    }.items():
        ET.SubElement(quiz, field).text = value
    return quiz


def _assessment(name: str, form: Form) -> ET.Element:
    root = ET.Element("questestinterop", {"xmlns": QTI, "xmlns:xsi": XSI})
    root.set("xsi:schemaLocation", f"{QTI} {QTI}p1.xsd")
    assessment = ET.SubElement(root, "assessment", ident=name, title=title(form))
    _fields(assessment, cc_maxattempts="1")
    section = ET.SubElement(assessment, "section", ident="root_section")
    for question in form.questions:
        section.append(_item(name, question))
    return root


def _fields(parent: ET.Element, **values: str) -> None:
    metadata = ET.SubElement(parent, "qtimetadata")
    for label, entry in values.items():
        field = ET.SubElement(metadata, "qtimetadatafield")
        ET.SubElement(field, "fieldlabel").text = label
        ET.SubElement(field, "fieldentry").text = entry


def _item(quiz: str, question: Question) -> ET.Element:
    ident = f"{quiz}_{question.name}"
    labels = [f"{ident}_{letter}" for letter in "abcd"]
    comments = dict(zip(labels, question.options, strict=True))
    heading = f"Chapter {question.chapter}: {question.name.replace('_', ' ')}"
    item = ET.Element("item", ident=ident, title=heading)
    _fields(
        ET.SubElement(item, "itemmetadata"),
        question_type="multiple_choice_question",
        points_possible="1",
        original_answer_ids=",".join(labels),
        assessment_question_identifierref=f"{ident}_question",
    )
    presentation = ET.SubElement(item, "presentation")
    _material(presentation, question.text)
    response = ET.SubElement(
        presentation, "response_lid", ident=RESPONSE, rcardinality="Single"
    )
    choices = ET.SubElement(response, "render_choice")
    for label, option in comments.items():
        _material(ET.SubElement(choices, "response_label", ident=label), option.text)
    processing = ET.SubElement(item, "resprocessing")
    ET.SubElement(
        ET.SubElement(processing, "outcomes"),
        "decvar",
        maxvalue="100",
        minvalue="0",
        varname="SCORE",
        vartype="Decimal",
    )
    for label in labels:  # comments first, since the right one ends the processing
        condition = _chosen(processing, label, "Yes")
        _feedback(condition, f"{label}_fb")
    right = labels[[option.right for option in question.options].index(True)]
    condition = _chosen(processing, right, "No")
    ET.SubElement(condition, "setvar", action="Set", varname="SCORE").text = "100"
    for label, option in comments.items():
        feedback = ET.SubElement(item, "itemfeedback", ident=f"{label}_fb")
        text = option.comment if option.right else f"The mistake: {option.comment}."
        _material(ET.SubElement(feedback, "flow_mat"), text)
    return item


def _chosen(processing: ET.Element, label: str, more: str) -> ET.Element:
    condition = ET.SubElement(processing, "respcondition", {"continue": more})
    variable = ET.SubElement(condition, "conditionvar")
    ET.SubElement(variable, "varequal", respident=RESPONSE).text = label
    return condition


def _feedback(condition: ET.Element, link: str) -> None:
    kind = {"feedbacktype": "Response", "linkrefid": link}
    ET.SubElement(condition, "displayfeedback", kind)


def _material(parent: ET.Element, text: str) -> None:
    material = ET.SubElement(parent, "material")
    ET.SubElement(material, "mattext", texttype="text/html").text = html(text)
