"""Write a form of the quiz as Moodle XML, which Moodle's question bank imports."""

from xml.etree import ElementTree as ET

from classroom.assessment.forms import Form, Question
from classroom.assessment.text import html

CATEGORY = "$course$/top/Vision Transformer, form {}"


def moodle_xml(form: Form) -> bytes:
    """Return the questions of a form, in a category of their own."""
    quiz = ET.Element("quiz")
    category = ET.SubElement(quiz, "question", type="category")
    _text(category, "category", CATEGORY.format(form.name))
    for question in form.questions:
        quiz.append(_question(form, question))
    ET.indent(quiz)
    data: bytes = ET.tostring(quiz, encoding="utf-8", xml_declaration=True)
    return data


def _question(form: Form, question: Question) -> ET.Element:
    element = ET.Element("question", type="multichoice")
    title = f"{form.name}{question.number:02} Chapter {question.chapter}: "
    _text(element, "name", title + question.name.replace("_", " "))
    _text(element, "questiontext", html(question.text), "html")
    _text(element, "generalfeedback", html(question.answer.comment), "html")
    for name, value in {
        "defaultgrade": "1",
        "penalty": "0",
        "hidden": "0",
        "single": "true",
        "shuffleanswers": "true",
        "answernumbering": "ABCD",
    }.items():
        ET.SubElement(element, name).text = value
    for option in question.options:
        fraction = "100" if option.right else "0"
        answer = ET.SubElement(element, "answer", fraction=fraction, format="html")
        ET.SubElement(answer, "text").text = html(option.text)
        if not option.right:
            _text(answer, "feedback", html(f"The mistake: {option.comment}."), "html")
    tags = ET.SubElement(element, "tags")
    _text(tags, "tag", f"chapter {question.chapter}")
    _text(tags, "tag", question.belief)
    return element


def _text(parent: ET.Element, name: str, text: str, kind: str | None = None) -> None:
    attributes = {"format": kind} if kind else {}
    ET.SubElement(ET.SubElement(parent, name, attributes), "text").text = text
